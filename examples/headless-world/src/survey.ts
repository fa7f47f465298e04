/** The sample's world: one agent, one session, one report. There is no agent loop here: the session has it. */
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
import { reportOnce } from 'reprise/history';
import type { ModelClient } from 'reprise/providers';
import type { Store } from 'reprise/sqlite';
import { printError } from 'reprise/terminal';
import { IGNORED_NAMES, type Tool, workspace } from 'reprise/tools';
import { countFiles } from './count-files.js';
import { ownOutput, REPORT } from './own-output.js';

const INSTRUCTIONS = `You survey a folder for a reader who has never seen it.
Count its files with count_files and look around with list_files, read_file and grep. Then write one Markdown report with write_file and end with one sentence.
The report says what is in the folder, how large it is, which languages it uses, which parts are oldest and newest,
and what looks unfinished. State only what you have seen. Take figures from count_files: listings can be cut.`;

/** The options of a survey. */
export interface SurveyOptions {
  /** The folder to survey. Nothing is written into it. */
  readonly folder: string;
  /** Where the report is written. */
  readonly out: string;
  /** The folders that hold nothing but output of this and earlier surveys, and are left out; `out` if absent. */
  readonly own?: readonly string[];
  readonly store: Store;
  readonly model: ModelClient;
  readonly secrets?: (name: string) => Promise<string>;
  /** Called once, before the first event. */
  readonly onStart?: (start: SurveyStart) => void;
  /** Called with each event when it is durable. */
  readonly onEvent?: (event: AgentEvent) => void;
  /** Ends the survey early. Finished work is kept, and the next survey continues from there. */
  readonly signal?: AbortSignal;
  /** Changes the tools, for tests that count what they do. */
  readonly wrapTool?: (tool: Tool) => Tool;
}

/** How a survey starts. */
export interface SurveyStart {
  /** How many surveys the world has with this one. */
  readonly number: number;
  /** Whether this survey continues a run that an earlier process left unfinished. */
  readonly resumed: boolean;
}

/** The result of a survey. */
export interface SurveyResult {
  readonly outcome: Outcome<string>;
  readonly report: string;
  readonly verified: VerifyReport;
  /** Whether this survey continued a run that an earlier process had left unfinished. */
  readonly resumed: boolean;
}

/** Surveys a folder, or continues an interrupted survey, and then replays the whole world. */
export async function survey(options: SurveyOptions): Promise<SurveyResult> {
  const agent = defineAgent({ name: 'surveyor', model: 'main', instructions: INSTRUCTIONS, tools: toolsFor(options) });
  const { store, model, secrets, signal } = options;
  const report = reportOnce((line) => printError(line));
  await using world = await openWorld({
    store,
    models: { main: model },
    agents: [agent],
    onError: (error, origin) => {
      // What ends its effect ends the run, and the command says why.
      if (origin.source !== 'effect' || origin.status === undefined) report(error, origin);
    },
    ...(secrets === undefined ? {} : { secrets }),
  });
  const stop = () => void world.close();
  signal?.addEventListener('abort', stop, { once: true });
  if (signal?.aborted === true) stop(); // it was aborted while the world was being opened
  const { session, number, unfinished } = await newestSurvey(world, agent);
  const resumed = unfinished !== undefined;
  options.onStart?.({ number, resumed });
  const run = unfinished ?? (await session.send(taskFor(options)));
  for await (const event of run.events()) options.onEvent?.(event);
  const outcome = await run.result();
  const verified = await world.verify();
  return { outcome, report: path.join(options.out, REPORT), verified, resumed };
}

/** What the agent is asked to do. */
function taskFor({ folder, out, own = [out] }: SurveyOptions): string {
  const left = ownOutput(folder, own).map((name) => JSON.stringify(name));
  const without = left.length === 0 ? '' : ` Leave out what surveys write: ${left.join(', ')}.`;
  return `Survey the folder and write the report to ${REPORT}.${without}`;
}

/** Reading is confined to the folder and writing to the output folder, so a survey does not change what it surveys. */
function toolsFor({ folder, out, own = [out], wrapTool }: SurveyOptions): Tool[] {
  const leaveOut = ownOutput(folder, own);
  const ignore = [...IGNORED_NAMES, ...leaveOut.map((name) => path.posix.basename(name))];
  const readers = [countFiles({ folder, leaveOut }), ...workspace({ root: folder, readOnly: true, ignore })];
  const writers = workspace({ root: out }).filter(({ name }) => name === 'write_file');
  return [...readers, ...writers].map((tool) => wrapTool?.(tool) ?? tool);
}

/** Each survey is a session of its own, so that it starts fresh; an unfinished survey is continued. */
async function newestSurvey(
  world: AgentWorld,
  agent: Agent<readonly Tool[], string>,
): Promise<{ session: Session<string>; number: number; unfinished: Run<string> | undefined }> {
  for (let number = 1; ; number++) {
    const session = world.session(number === 1 ? 'survey' : `survey-${number}`, agent);
    const state = await session.state();
    if (state === undefined || state.runs === 0) return { session, number, unfinished: undefined };
    if (state.run !== null) return { session, number, unfinished: await session.run(state.run.number) };
  }
}

/** The report's text. */
export function readReport(file: string): Promise<string> {
  return readFile(file, 'utf8');
}
