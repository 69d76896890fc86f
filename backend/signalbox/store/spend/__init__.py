"""What runs cost: reservations before they start, settlements after they end, reports."""
