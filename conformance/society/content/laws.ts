/** The law of content for broken builds: it throws at the first disagreement. */
import { judgeContent } from './judge.js';

const WORLDS = 60;
const SEED = 36;

/** Random worlds show their entities exactly what those may read. */
export async function content(): Promise<void> {
  const { first } = await judgeContent(WORLDS, SEED);
  if (first !== undefined) throw new Error(first);
}
