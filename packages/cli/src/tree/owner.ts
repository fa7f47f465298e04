/** The process that runs trees: it has the world, and takes commands of other processes at a socket. */
import { existsSync, mkdirSync, realpathSync, statSync } from 'node:fs';
import path from 'node:path';
import { type AgentWorld, openAgentWorld } from '@reprise/agent';
import { reportOnce } from '@reprise/agent/history';
import { isRepriseError, lineOfError, RepriseError } from '@reprise/contracts';
import { llmGenerateAdapter, type ModelClient, relay } from '@reprise/providers';
import { sqlite } from '@reprise/store-sqlite';
import { type TreeView, trees } from '@reprise/tree';
import { bridge, files, type PeopleDoor, peopleDoor } from '@reprise/tree/serve';
import { infosOf } from '../world/model-infos.js';
import { requireFile } from '../world/place.js';
import { type ActParts, performAct, readAct } from './act.js';
import { AGENTS, type AgentName, agentOf, MODEL } from './agents.js';
import { type ModelChoice, modelOf, secretsOf } from './models.js';
import { Notices } from './notices.js';
import { rulesModel } from './rules/rules-model.js';

/** What a tree is run with. It stands in the labels of the tree, so that another process can go on. */
export interface Setup extends ModelChoice {
  readonly agent: AgentName;
  /** The folder that the agents read. */
  readonly folder: string;
}

/** An open world of trees. */
export interface TreeOwner extends AsyncDisposable, ActParts {
  readonly world: AgentWorld;
  /** The people's door, where commands of other processes are taken: of an owner that runs trees. */
  readonly door?: PeopleDoor;
  /** What its doors refused, and what broke. */
  readonly notices: Notices;
}

/**
 * Opens a world of trees.
 *
 * @param drive `manual` starts nothing: for one command to a world that no process runs
 * @throws RepriseError `world_locked` when another process has the world; the errors of opening one
 */
export async function openOwner(file: string, setup: Setup, drive: 'auto' | 'manual'): Promise<TreeOwner> {
  makeFolder(path.dirname(path.resolve(file)));
  const notices = new Notices();
  const onError = (error: unknown): void => notices.add(lineOfError(error));
  const report = reportOnce((line) => notices.add(line));
  const runs = drive === 'auto';
  const isProgram = runs && setup.agent !== 'worker';
  const tools = isProgram ? bridge({ world: file, onError }) : undefined;
  const parts = { folder: setup.folder, ...(tools === undefined ? {} : { bridge: tools }) };
  // The first agent is the default: the one that was chosen.
  const names = [...new Set([setup.agent, 'worker' as const])];
  const agents = await Promise.all(names.map((name) => agentOf(name, parts)));
  const part = trees({
    agents,
    files: files(setup.folder),
    ...(tools === undefined ? {} : { bridge: tools }),
  });
  const models: Readonly<Record<string, ModelClient>> = {
    [MODEL]: runs ? modelOf(setup, process.env) : rulesModel(), // a model that is never called needs no key
    relay: relay(),
  };
  const world = await openAgentWorld({
    store: sqlite(file),
    parts: [part],
    models: infosOf(models),
    llm: (judge) => llmGenerateAdapter(models, { judge }),
    secrets: secretsOf(process.env),
    onError: report,
    drive,
  });
  const handle = world.part(part);
  const door = runs
    ? peopleDoor({
        world: file,
        commands: async (verb, args) => (await performAct({ trees: handle, agents }, readAct(verb, args))) as never,
        onRefused: ({ message }) => notices.add(message),
        onError,
      })
    : undefined;
  await door?.listen();
  return {
    ...{ world, agents, notices, trees: handle },
    ...(door === undefined ? {} : { door }),
    [Symbol.asyncDispose]: async () => {
      await door?.close();
      await tools?.close();
      await world.close();
    },
  };
}

/** Commands find the process that runs a tree by the file of its world. @throws RepriseError `invalid_argument` for a database */
export function requireOwnFile(world: string): void {
  requireFile(
    world,
    'the process that runs a tree',
    'Run the tree in an app: trees() of reprise/tree, as a part of its world.',
  );
}

/** Makes the folder of a world. @throws RepriseError `store_failed` */
export function makeFolder(folder: string): void {
  try {
    // One level: where the system refuses a folder (/proc), Node would try its parents for ever.
    if (!existsSync(folder)) mkdirSync(folder);
  } catch (cause) {
    throw new RepriseError('store_failed', 'the folder of the world cannot be made', { where: folder, cause });
  }
}

/** A setup as labels of a tree. */
export function labelsOf({ model, baseUrl, price, agent, folder }: Setup): Record<string, string> {
  return {
    ...{ model, agent, folder },
    ...(baseUrl === undefined ? {} : { base_url: baseUrl }),
    ...(price === undefined ? {} : { price: `${price.in},${price.out}` }),
  };
}

/**
 * The setup of a tree that `reprise tree run` started.
 *
 * @throws RepriseError `invalid_argument` for a tree that another program started
 */
export function setupOf({ name, labels }: TreeView): Setup {
  const { model, agent, folder, base_url: baseUrl, price } = labels;
  const known = AGENTS.find((one) => one === agent);
  if (model === undefined || folder === undefined || known === undefined)
    throw new RepriseError('invalid_argument', 'another program started this tree, and runs it', {
      actual: name,
      hint: 'Send the command while that program runs, or use its own commands.',
    });
  const [input, output] = (price ?? '').split(',').map(Number);
  return {
    ...{ model, agent: known, folder },
    ...(baseUrl === undefined ? {} : { baseUrl }),
    ...(input === undefined || output === undefined ? {} : { price: { in: input, out: output } }),
  };
}

/**
 * The real path of a folder.
 *
 * @throws RepriseError `invalid_argument` when it is not there, or is no folder
 */
export function requireFolder(folder: string): string {
  const found = statSync(folder, { throwIfNoEntry: false });
  if (found?.isDirectory() === true) return realpathSync(folder);
  throw new RepriseError('invalid_argument', found === undefined ? 'the folder does not exist' : 'this is no folder', {
    where: '--folder',
    actual: folder,
  });
}

/** How long a command waits for a world that another process has, and how often it looks, in milliseconds. */
const [HELD_MS, LOOK_MS] = [10_000, 100];

/**
 * Acts on a world, again while another process has it that is about to leave: a command, or an owner that ends.
 *
 * @param act may be done again: what it asks for has an id, or it only opens the world
 * @param isKept whether the world is held by a process that will not leave soon
 * @throws RepriseError `world_locked` when the world is not free after ten seconds, or an owner runs its trees
 */
export async function whileHeld<T>(
  file: string,
  act: () => Promise<T>,
  isKept: () => Promise<boolean> = async () => false,
): Promise<T> {
  const since = performance.now();
  for (;;) {
    try {
      return await act();
    } catch (error) {
      const isPassing = isRepriseError(error, 'world_locked') || isRepriseError(error, 'world_closed');
      if (!isPassing || performance.now() - since > HELD_MS || (await isKept())) throw heldByOther(error, file);
      await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
    }
  }
}

/** Adds what to do to the error of a world that another process has. */
function heldByOther(error: unknown, file: string): unknown {
  if (!isRepriseError(error, 'world_locked')) return error;
  return new RepriseError('world_locked', 'another process has this world and runs its trees', {
    ...error.details,
    where: file,
    hint: 'Watch it: reprise tree watch. Act on it: reprise tree answer, stop, tell … Or name another world: --world FILE.',
  });
}
