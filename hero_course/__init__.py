"""The tools that build and grade the book; never imported by `hero_transformer` or by a chapter."""
