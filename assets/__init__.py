"""Package data: messages, presets, language resources, samples. No code."""
