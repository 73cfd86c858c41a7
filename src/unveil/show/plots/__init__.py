"""Plots. Each function draws one result on matplotlib axes and returns them."""
