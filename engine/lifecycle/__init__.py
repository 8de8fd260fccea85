"""How what is stored ages: pure rules, no storage."""
