/** Pointers in texts: `[agent_result:3]` stands for result 3 of the project, which is passed on by link. */
import type { Brief } from '../pure/index.js';

/** A pointer; what follows the colon is the number of a result of the same project, or something else. */
const POINTER = /\[agent_result:([^\]\r\n]{1,64})\]/g;

/** The number of a result. */
const NUMBER = /^[1-9][0-9]{0,6}$/;

/** What the texts of one task or spawn point to. */
interface Pointed extends Pick<Brief, 'pointers'> {
  /** Pointers that name no result of this project. */
  readonly foreign?: string[];
}

/** How many pointers are recorded: one more than a job may have, so that too many are refused as such. */
const RECORDED_MAX = 14;
const FOREIGN_MAX = 16;

/** The pointers of texts, each once, in their order. */
export function pointersIn(...texts: readonly string[]): Pointed {
  const found = new Set(texts.flatMap((text) => [...text.matchAll(POINTER)].map(([, to = '']) => to)));
  const pointers = [...found].filter((to) => NUMBER.test(to)).map(Number);
  const foreign = [...found].filter((to) => !NUMBER.test(to));
  const excess = pointers.slice(RECORDED_MAX).map((n) => `${n} (more than ${RECORDED_MAX})`);
  const others = [...foreign, ...excess].slice(0, FOREIGN_MAX);
  return { pointers: pointers.slice(0, RECORDED_MAX), ...(others.length === 0 ? {} : { foreign: others }) };
}
