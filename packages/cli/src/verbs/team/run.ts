/** `reprise team run` and `reprise team continue`: this process runs a team until it is idle, waits for what comes from outside, or the user leaves. */
import { createHash, randomUUID } from 'node:crypto';
import { isRepriseError, RepriseError } from '@reprise/contracts';
import { decisionText } from '@reprise/operators/names';
import { type Project, teamEndsFromOutside } from '@reprise/specialists';
import { PROJECT_ID, type ProjectState } from '@reprise/specialists/contracts';
import { type Io, sayInspect } from '../../process/io.js';
import { exitOfProject } from '../../team/exit.js';
import { lineOfFact, readOutput, type TeamFact, teamFactIn } from '../../team/facts.js';
import { clientOf, heldByOtherTeam, openTeam, skillFolders, type TeamOwner, type TeamSetup } from '../../team/owner.js';
import { projectNamed, projectsIn } from '../../team/read-team.js';
import { howProjectGoesOn } from '../../team/waiting.js';
import { escapeLine, escapeText } from '../../text/escape.js';
import { toJson } from '../../text/json.js';
import { wrapToColumns } from '../../text/layout.js';
import { TREE_EXIT, type TreeExitCode } from '../../tree/exit.js';
import { textOfFile } from '../../tree/goal.js';
import { requireFolder } from '../../tree/owner.js';
import { RULES } from '../../tree/rules/rules-model.js';
import { isThere, withWorld } from '../../world/open.js';

/** The options of `team run`. */
interface RunTeamOptions {
  readonly world: string;
  readonly project?: string;
  readonly skills?: readonly string[];
  readonly planner?: readonly string[];
  readonly folder: string;
  readonly model?: string;
  readonly baseUrl?: string;
  readonly price?: { readonly in: number; readonly out: number };
  readonly dispatch?: string;
  readonly max?: number;
  readonly budget?: number;
  /** Send the message although it was sent before. */
  readonly again?: true;
  readonly plain?: true;
  readonly json?: true;
}

/** The project of a world without one. */
const PROJECT_DEFAULT = 'main';
/** The columns before the words of a line: time and mark. */
const INDENT = 9;
/** The exit code after Ctrl-C, as shells know it. */
const LEFT = 130;
/** How often it is looked whether the project stands still: twice in a row says so. Milliseconds. */
const STILL_MS = 400;

/** Sends a message, and follows the project until it is idle, waits for what comes from outside, or the user leaves. */
export async function runTeam(io: Io, argument: string, options: RunTeamOptions): Promise<number> {
  const message = readMessage(argument);
  const setup = setupOf(options);
  const id = await projectOf(options);
  return withTeam(io, options, setup, id, (project) => say(io, project, message, options));
}

/** The options of `team continue`: those of `run`, without a message. */
type ContinueTeamOptions = Omit<RunTeamOptions, 'again'>;

/** Goes on with a project: after Ctrl-C, a crash, or what it waited for. With a budget it may use that from now on. */
export async function continueTeam(io: Io, options: ContinueTeamOptions): Promise<number> {
  const { budget, ...rest } = options;
  const setup = setupOf(options);
  const id = projectNamed(await withWorld(options.world, projectsIn), options.project);
  return withTeam(io, rest, setup, id, async (project) => {
    if (budget !== undefined) await project.limit({ usd: budget });
  });
}

/** Opens the world, has something done to a project, and follows it. */
async function withTeam(
  io: Io,
  { world, json }: Pick<RunTeamOptions, 'world' | 'json'>,
  setup: TeamSetup,
  id: string,
  begin: (project: Project) => Promise<void>,
): Promise<number> {
  const report = (line: string): void => void io.err.write(`${escapeLine(line)}\n`);
  const owner = await opened(world, { ...setup, report });
  await using _ = owner;
  const project = owner.projects.project(id);
  const from = owner.world.kernel.head.seq + 1;
  const following = new FollowingTeam(io, owner, id, from, json === true);
  const done = following.run();
  try {
    const rests = await Promise.race([
      begin(project).then(() => following.rests()),
      following.left,
      done.then(() => following.left), // what cannot be shown ends the command, and not the process
    ]);
    if (rests === 'left') return LEFT;
    const code = await following.end(rests);
    if (json !== true) await sayInspect(io, world);
    return code;
  } finally {
    following.stop();
    await done;
  }
}

/** The same words are the same message: after a crash the same command goes on. */
async function say(io: Io, project: Project, message: string, { again, json }: RunTeamOptions): Promise<void> {
  const digest = createHash('sha256').update(message).digest('hex').slice(0, 32);
  const id = again === true ? randomUUID() : `cli/${digest}`;
  const before = await project.state();
  await sent(project, message, id);
  const after = await project.state();
  const isOld = before !== undefined && after !== undefined && after.message === before.message;
  if (isOld && before.status !== 'working' && json !== true)
    await io.err.write('This message was sent before. To send it again: --again.\n');
}

/** Sends a message. One that waits, since the team cannot be read, is sent: the project says that a decision is needed. */
async function sent(project: Project, message: string, id: string): Promise<void> {
  try {
    await project.send(message, { id });
  } catch (error) {
    if (!isRepriseError(error, 'run_waiting')) throw error;
  }
}

function readMessage(argument: string): string {
  const message = (textOfFile(argument, 'message') ?? argument).trim();
  if (message !== '') return message;
  throw new RepriseError('invalid_argument', 'the message is empty', {
    where: 'MESSAGE',
    expected: 'what the team is to do, in quotes, or a text file',
  });
}

function setupOf(options: RunTeamOptions): TeamSetup {
  const { model = RULES, baseUrl, price, dispatch, max, budget, planner = ['planner'] } = options;
  if (dispatch !== undefined && dispatch !== 'auto')
    throw new RepriseError('invalid_argument', 'unknown value of --dispatch', {
      where: '--dispatch',
      expected: 'auto; left out, the coordinator hands tasks out',
      actual: dispatch,
    });
  const choice = { model, ...(baseUrl === undefined ? {} : { baseUrl }), ...(price === undefined ? {} : { price }) };
  const { profile } = clientOf(choice); // a missing key is reported before a world is made
  if (budget !== undefined && profile.price === undefined) throw noPrice();
  return {
    ...choice,
    skills: skillFolders(options.skills ?? []),
    folder: requireFolder(options.folder),
    planners: planner,
    ...(dispatch === undefined ? {} : { dispatch }),
    ...(max === undefined ? {} : { max }),
    ...(budget === undefined ? {} : { budget }),
  };
}

/** The project: the named one, the only one of the world, or a first one. */
async function projectOf({ world, project }: RunTeamOptions): Promise<string> {
  if (project !== undefined && !PROJECT_ID.test(project))
    throw new RepriseError('invalid_argument', 'invalid id of a project', {
      where: '--project',
      expected: '1 to 100 of a–z 0–9 . _ -',
      actual: project,
    });
  if (project !== undefined) return project;
  const all = (await isThere(world)) ? await withWorld(world, projectsIn) : [];
  return all.length === 0 ? PROJECT_DEFAULT : projectNamed(all, undefined);
}

async function opened(world: string, setup: TeamSetup): Promise<TeamOwner> {
  try {
    return await openTeam(world, setup);
  } catch (error) {
    throw heldByOtherTeam(error, world);
  }
}

/** Says how a price is given here, where a budget in money needs one. */
function noPrice(): RepriseError {
  return new RepriseError('invalid_argument', 'no_price: the model has no price, so a budget in money cannot be kept', {
    where: '--budget',
    hint: 'Give the price of the model in dollars per million tokens: --price IN,OUT. Or leave the budget out.',
  });
}

/** Prints what happens in a project. */
class FollowingTeam {
  readonly left: Promise<'left'>;
  readonly #stop = new AbortController();
  readonly #unhear: (() => void) | undefined;
  readonly #caughtUp = new Map<number, () => void>();
  #said: TeamFact | undefined;
  #isLeft = false;
  #seen = -1;

  constructor(
    private readonly io: Io,
    private readonly owner: TeamOwner,
    private readonly project: string,
    private readonly from: number,
    private readonly json: boolean,
  ) {
    let leave: (left: 'left') => void = () => undefined;
    this.left = new Promise((resolve) => {
      leave = resolve;
    });
    this.#unhear = io.onSignal?.(() => {
      if (this.#isLeft) return;
      this.#isLeft = true;
      void io.err.write('Leaving: the same command goes on.\n');
      leave('left');
    });
  }

  async run(): Promise<void> {
    const { kernel } = this.owner.world;
    const began = Date.now();
    try {
      for await (const { seq, records } of kernel.frames(this.from, this.#stop.signal)) {
        for (const record of records) {
          const fact = teamFactIn(record, this.project);
          if (fact !== undefined) await this.#print(fact, seq, Date.now() - began);
        }
        this.#seen = seq;
        for (const [wanted, heard] of this.#caughtUp) if (seq >= wanted) heard();
      }
    } catch (error) {
      if (!this.#stop.signal.aborted) throw error;
    }
  }

  stop(): void {
    this.#unhear?.();
    this.#stop.abort();
  }

  /** Waits until the project is idle, or nothing of it goes on before something comes from outside. */
  async rests(): Promise<ProjectState> {
    const project = this.owner.projects.project(this.project);
    let before = -1;
    for (;;) {
      const now = await project.idle({ within: STILL_MS });
      const { seq } = this.owner.world.kernel.head;
      if (now.status !== 'working' || (seq === before && (await this.#isStill(project)))) return now;
      before = seq;
    }
  }

  /** A tool that waits for an answer runs all the time, and the world only knows that it runs: the project knows better. */
  async #isStill(project: Project): Promise<boolean> {
    const { kernel } = this.owner.world;
    return (!kernel.unfinished && kernel.nextWakeAt === undefined) || (await project.standsStill());
  }

  /** Prints how it ended or what it waits for, and the coordinator's last answer. @returns the exit code */
  async end({ status, needs }: ProjectState): Promise<TreeExitCode> {
    await this.#catchUp();
    const project = this.owner.projects.project(this.project);
    const [tasks, results, waits] = [await project.tasks(), await project.results(), await project.waits()];
    const text = await this.#answer();
    const completed = tasks.filter((one) => one.status === 'completed').length;
    const processed = results.filter((one) => one.processed).length;
    const exit = exitOfProject(status, status === 'working' || waits.some(teamEndsFromOutside));
    if (this.json) {
      const outcome = { tasks: tasks.length, completed, results: results.length, processed };
      const event = { event: 'outcome', project: this.project, status, needs, text, ...outcome, waits, exit };
      await this.#line(toJson(event));
      return exit;
    }
    const plan = tasks.length === 0 ? '' : `tasks completed ${completed}/${tasks.length}, `;
    await this.#line(`${this.project} [${status}] ${plan}results processed ${processed}/${results.length}`);
    if (needs !== null) await this.#line(`A decision is needed: ${decisionText(needs)}.`);
    if (text !== '') await this.io.out.write(`\n${escapeText(text)}\n`);
    if (exit === TREE_EXIT.waits) await this.io.err.write(escapeText(howProjectGoesOn(this.project, waits)));
    return exit;
  }

  /** The last answer of the coordinator that is no mere note: of this process, or of an earlier one. */
  async #answer(): Promise<string> {
    const { kernel } = this.owner.world;
    if (this.#said === undefined) {
      for await (const { seq, records } of kernel.frames(0)) {
        for (const record of records) this.#remember(teamFactIn(record, this.project));
        if (seq >= kernel.head.seq) break;
      }
    }
    return this.#said === undefined ? '' : readOutput(kernel.content, this.#said.value.output_ref as never);
  }

  #remember(fact: TeamFact | undefined): void {
    if (fact?.name === 'Said' && (fact.value.calls as readonly unknown[]).length === 0) this.#said = fact;
  }

  async #catchUp(): Promise<void> {
    const { seq } = this.owner.world.kernel.head;
    if (this.#seen >= seq || seq < this.from) return;
    await new Promise<void>((resolve) => this.#caughtUp.set(seq, resolve));
  }

  async #print(fact: TeamFact, frame: number, ms: number): Promise<void> {
    this.#remember(fact);
    const { content } = this.owner.world.kernel;
    if (this.json) return this.#line(toJson({ event: fact.name, project: this.project, frame, ...fact.value }));
    const line = await lineOfFact(fact, content);
    const seconds = Math.floor(ms / 1_000);
    const clock = `${String(Math.floor(seconds / 60)).padStart(2, '0')}:${String(seconds % 60).padStart(2, '0')}`;
    if (line !== undefined) await this.#line(this.#fitted(`${clock}  ${escapeLine(line)}`));
  }

  /** On a terminal, a line that is too long goes on below its words. */
  #fitted(line: string): string {
    const { columns } = this.io.out;
    return columns === undefined ? line : wrapToColumns(line, columns, INDENT);
  }

  #line(line: string): Promise<void> {
    return this.io.out.write(`${line}\n`);
  }
}
