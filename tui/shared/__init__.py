"""What several screens need: styled text, signs, the clipboard, widgets made of lines."""
