"""Sign-in for people: sessions after OpenID Connect, or headers of a trusted proxy."""
