"""Google's Gemini API: generateContent and streamGenerateContent."""
