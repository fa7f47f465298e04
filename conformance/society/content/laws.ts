/** The law of content for broken builds: it throws at the first disagreement. */
import { judgeContent } from './judge.js';

/** Random worlds from a seed on show their entities exactly what those may read. */
export async function content(worlds: number, seed: number): Promise<void> {
  const { first } = await judgeContent(worlds, seed);
  if (first !== undefined) throw new Error(first);
}
