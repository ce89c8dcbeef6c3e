"""Sound in the window: the player, the microphone, waveforms. QtMultimedia is imported only when it is used."""
