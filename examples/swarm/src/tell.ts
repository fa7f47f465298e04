/** Does the research and tells of it, to its end or until the user leaves. */
import type { AgentWorld } from 'reprise';
import type { Society } from 'reprise/society';
import { print, printError } from 'reprise/terminal';
import type { Crew } from './crew.js';
import { doneBefore } from './interrupt.js';
import { joinable } from './join.js';
import { happenings } from './journal.js';
import { lineOf, namesOf, reportOf } from './report.js';
import { hire, type Member, research } from './research.js';

interface Telling {
  readonly file: string;
  readonly stay: boolean;
  /** Aborted when the user leaves. */
  readonly signal: AbortSignal;
}

/** Does the research and tells of it. However it ends, nothing is told and nobody is served after it. @returns the exit code */
export async function told(
  world: AgentWorld,
  office: Society,
  crew: Crew,
  { file, stay, signal }: Telling,
): Promise<number> {
  const members = await hire(office);
  const { words, leave } = await joinable(world, file);
  try {
    print(`${words}\n`);
    if (!(await researched(world, office, crew, members, signal))) {
      printError('Stopped. The same command continues where it was.');
      return 130;
    }
    print(`\n${await reportOf(world, office, members, file)}`);
    if (stay) print(`\n${words}\nCtrl-C ends it.`);
    if (stay) await doneBefore(signal, new Promise(() => undefined));
    return 0;
  } finally {
    await leave();
  }
}

/** Does the research, and shows it meanwhile. @returns whether it is done */
async function researched(
  world: AgentWorld,
  office: Society,
  crew: Crew,
  members: readonly Member[],
  signal: AbortSignal,
): Promise<boolean> {
  const over = new AbortController();
  const shown = show(world, members, over.signal);
  shown.catch(() => undefined); // thrown below
  try {
    return await doneBefore(signal, research(world, office, crew, members, signal));
  } finally {
    over.abort();
    await shown;
  }
}

/** Prints what happens, from now on. */
async function show(world: AgentWorld, members: readonly Member[], signal: AbortSignal): Promise<void> {
  const nameOf = namesOf(members);
  try {
    for await (const news of happenings(world, { from: world.kernel.head.seq + 1, signal })) {
      const line = lineOf(news, nameOf);
      if (line !== undefined) print(line);
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}
