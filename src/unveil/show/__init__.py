"""What people see of results: words, plots and reports. Nothing is computed here."""
