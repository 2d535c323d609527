"""What every other room builds on: transitions, errors, arrays, random streams, moments."""
