/** Opens the screen where there is a terminal that can draw it. */
import type { Io } from '../../process/io.js';
import { nodeText } from '../../tree/node-text.js';
import { type ScreenParts, TreeScreen } from '../../tree/screen/screen.js';
import { nodeOf } from '../../tree/target.js';

/** The screen on the terminal of a person; undefined without one, or when plain text is wanted. */
export function screenOn(
  { terminal }: Io,
  isPlain: boolean,
  parts: Pick<ScreenParts, 'texts' | 'runs' | 'past' | 'execute'>,
): TreeScreen | undefined {
  if (terminal === undefined || isPlain || process.env.TERM === 'dumb') return undefined;
  const detail: ScreenParts['detail'] = async (tree, { n, launch }, columns) =>
    (await nodeText(tree, nodeOf(tree, n), parts.texts, columns, { launch })).split('\n');
  return new TreeScreen({ ...terminal, ...parts, detail });
}
