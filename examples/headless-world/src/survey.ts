/** The sample's world: one agent, one session, one report. It holds no loop: the journal does. */
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import {
  type Agent,
  type AgentEvent,
  type AgentWorld,
  defineAgent,
  type Outcome,
  openWorld,
  type Run,
  type Session,
  type VerifyReport,
} from 'reprise';
import type { ModelClient } from 'reprise/providers';
import type { Store } from 'reprise/sqlite';
import { IGNORED_NAMES, type Tool, workspace } from 'reprise/tools';

/** The report's file name in the output folder. */
export const REPORT = 'SURVEY.md';

const INSTRUCTIONS = `You survey a folder for somebody who has never seen it.
Look around with list_files, read_file and grep. Then write one Markdown report with write_file and end with one sentence.
The report says what is in the folder, how large it is, which languages it uses, which parts are oldest and newest,
and what looks unfinished. State only what you have seen.`;

/** What a survey needs. */
export interface SurveyOptions {
  /** The folder to look at. Nothing is written into it. */
  readonly folder: string;
  /** Where the report is written. */
  readonly out: string;
  readonly store: Store;
  readonly model: ModelClient;
  readonly secrets?: (name: string) => Promise<string>;
  /** Told what happens, as it becomes durable. */
  readonly onEvent?: (event: AgentEvent) => void;
  /** Ends the survey early; what was done is kept, and the next survey goes on from there. */
  readonly signal?: AbortSignal;
  /** Changes the tools, for tests that count what they do. */
  readonly wrapTool?: (tool: Tool) => Tool;
}

/** What a survey came to. */
export interface SurveyResult {
  readonly outcome: Outcome<string>;
  readonly report: string;
  readonly verified: VerifyReport;
  /** This survey went on with a run that an earlier process had left unfinished. */
  readonly resumed: boolean;
}

/** Surveys a folder, or goes on with a survey that was interrupted, and performs the whole world again. */
export async function survey(options: SurveyOptions): Promise<SurveyResult> {
  const agent = defineAgent({ name: 'surveyor', model: 'main', instructions: INSTRUCTIONS, tools: toolsFor(options) });
  const { store, model, secrets, signal } = options;
  await using world = await openWorld({
    store,
    models: { main: model },
    agents: [agent],
    ...(secrets === undefined ? {} : { secrets }),
  });
  const stop = () => void world.close();
  signal?.addEventListener('abort', stop, { once: true });
  if (signal?.aborted === true) stop(); // while the world was being opened
  const { session, unfinished } = await newestSurvey(world, agent);
  const run = unfinished ?? (await session.send(`Survey the folder and write the report to ${REPORT}.`));
  for await (const event of run.events()) options.onEvent?.(event);
  const outcome = await run.result();
  const verified = await world.verify();
  return { outcome, report: path.join(options.out, REPORT), verified, resumed: unfinished !== undefined };
}

/** Reading is confined to the folder, writing to the output folder: a survey leaves no trace in what it surveys. */
function toolsFor({ folder, out, wrapTool }: SurveyOptions): Tool[] {
  // Worlds of earlier surveys are this sample's own output, not part of what is surveyed.
  const readers = workspace({ root: folder, readOnly: true, ignore: [...IGNORED_NAMES, 'worlds'] });
  const writers = workspace({ root: out }).filter(({ name }) => name === 'write_file');
  return [...readers, ...writers].map((tool) => wrapTool?.(tool) ?? tool);
}

/** Every survey is a session of its own, so that it looks anew; one that did not end is gone on with. */
async function newestSurvey(
  world: AgentWorld,
  agent: Agent<readonly Tool[], string>,
): Promise<{ session: Session<string>; unfinished: Run<string> | undefined }> {
  for (let n = 1; ; n++) {
    const session = world.session(n === 1 ? 'survey' : `survey-${n}`, agent);
    const state = await session.state();
    if (state === undefined || state.runs === 0) return { session, unfinished: undefined };
    if (state.run !== null) return { session, unfinished: await session.run(state.run.number) };
  }
}

/** The report's text. */
export function readReport(file: string): Promise<string> {
  return readFile(file, 'utf8');
}
