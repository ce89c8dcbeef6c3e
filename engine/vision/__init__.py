"""From images to what a vision model reads: sizes, pixel values, patches, places in the prompt."""
