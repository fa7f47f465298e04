/** Chooses between a screen and plain lines. */
import { Lines } from './lines.js';
import { Screen } from './screen.js';
import type { Terminal, TerminalEvents } from './terminal.js';
import { isDumb, takesColors } from './text/paint.js';

/** Opens the terminal of a program: a screen if both ends are a terminal that can draw, else lines. */
export function openTerminal(
  input: NodeJS.ReadStream,
  output: NodeJS.WriteStream,
  events: TerminalEvents,
  history: readonly string[],
): Terminal {
  const isScreen = input.isTTY === true && output.isTTY === true && !isDumb(process.env);
  if (!isScreen) return new Lines(input, output, events);
  return new Screen(input, output, events, { colors: takesColors(output, process.env), history });
}
