"""Pairs of plans made smaller while they still show what they are wanted for."""
