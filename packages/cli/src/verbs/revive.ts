/**
 * `reprise revive`: shows what would go on with a failed cell, and brings the cell back when the user says so.
 *
 * Only the request is written: no effect starts here. The app's own process goes on with the world.
 */
import { createInterface } from 'node:readline/promises';
import { type Address, formatAddress, type Principal, parseAddress, RepriseError } from '@reprise/contracts';
import {
  type CellTrouble,
  checkAgainst,
  openKernelWorld,
  type ReadonlyStore,
  type WorldAt,
  worldAt,
} from '@reprise/kernel';
import type { Io } from '../process/io.js';
import { escapeLine } from '../text/escape.js';
import { toJson } from '../text/json.js';
import { requireApp } from '../world/app.js';
import { withWorld } from '../world/open.js';
import { storeAt } from '../world/place.js';
import { asData, lineOf } from '../world/troubles.js';
import { newest } from './show-cell.js';

interface ReviveArguments {
  readonly yes?: true;
  readonly as?: string;
  readonly app?: string;
  readonly legacy?: readonly string[];
  readonly json?: true;
}

type Chosen = Awaited<ReturnType<typeof requireApp>>;

/** A failed cell, and what goes on once it is back. */
interface Prospect {
  readonly trouble: CellTrouble;
  /** The state before the fault. */
  readonly state: unknown;
  /** The open effects of the world: those go on whether the cell is revived or not. */
  readonly effects: ReturnType<WorldAt['openEffects']>;
  /** What it is held to from above: a revival lifts none of them. */
  readonly holds: Awaited<ReturnType<WorldAt['holds']>>;
}

/**
 * Shows a failed cell and revives it.
 *
 * @throws RepriseError `invalid_argument` for a cell that has not failed, without `--yes` where nobody can be asked, and
 *   for a world that this command cannot open as its app does; `world_locked`, and the refusals of the kernel
 */
export async function revive(io: Io, world: string, text: string, options: ReviveArguments): Promise<void> {
  const address = parseAddress(text);
  const { chosen, prospect } = await withWorld(world, (store) => lookAt(store, address, options));
  if (options.json !== true) await io.out.write(textOf(prospect));
  if (options.yes !== true && !(await isAgreed(io))) return;
  await using opened = await openKernelWorld({
    ...{ store: storeAt(world), app: chosen.app, legacy: chosen.legacy, drive: 'manual' },
  });
  const by = options.as === undefined ? {} : { as: options.as as Principal };
  const { seq, head } = await opened.revive(prospect.trouble.where, by);
  const done = { ok: true, ...asData(prospect.trouble), holds: prospect.holds, revived: seq, head: `sha256:${head}` };
  await io.out.write(options.json === true ? `${toJson(done)}\n` : `revived in frame ${seq}\nhead sha256:${head}\n`);
}

async function lookAt(
  store: ReadonlyStore,
  address: Address,
  options: ReviveArguments,
): Promise<{ readonly chosen: Chosen; readonly prospect: Prospect }> {
  const chosen = await requireApp(store, options);
  await requireSameApp(store, chosen);
  const then = await worldAt(store, chosen.app, await newest(store), { legacy: chosen.legacy });
  const name = formatAddress(address);
  const failed = then.trouble().find(({ where }) => formatAddress(where) === name);
  if (failed === undefined) throw notFailed(name, then.trouble());
  const effects = then.openEffects();
  const asking = effects.find(({ guarantee, attempt }) => guarantee === 'reconcile' && attempt > 0);
  if (asking !== undefined) throw needsAdapter(asking.name);
  const [state, holds] = [await then.state(failed.where), await then.holds(failed.where)];
  return { chosen, prospect: { trouble: failed, state, effects, holds } };
}

/** Another app, or another version of it, would begin an era: that is the decision of a deployment. */
async function requireSameApp(store: ReadonlyStore, { app, legacy }: Chosen): Promise<void> {
  const { verdict } = await checkAgainst(store, app, { legacy });
  if (verdict === 'same') return;
  throw new RepriseError('invalid_argument', 'this app would begin another era of the world', {
    expected: 'the app that writes the world now',
    actual: `an app for which reprise check says ${verdict}`,
    hint: 'Name the app with --app MODULE, or revive the cell in the app itself: world.revive(address).',
  });
}

function notFailed(cell: string, troubles: readonly CellTrouble[]): RepriseError {
  return new RepriseError('invalid_argument', `cell ${cell} has not failed`, {
    where: cell,
    expected: troubles.length === 0 ? 'a failed cell; this world has none' : troubles.map(lineOf).join('; '),
    hint: 'reprise trouble WORLD lists the failed cells.',
  });
}

/** Opening the world settles what was under way, and an effect of this guarantee asks its adapter first. */
function needsAdapter(effect: string): RepriseError {
  return new RepriseError(
    'invalid_argument',
    `effect ${effect} was under way, and only its adapter knows how it went`,
    {
      expected: 'a world without effects of the guarantee `reconcile` under way',
      actual: effect,
      hint: 'Open the world in its app, which has the adapter, and call world.revive(address) there.',
    },
  );
}

function textOf({ trouble, state, effects, holds }: Prospect): string {
  const own = effects.filter(({ cell }) => formatAddress(cell) === formatAddress(trouble.where));
  const others = effects.length - own.length;
  const lines = [
    ...['the fault', `  ${lineOf(trouble)}`, 'the state before the fault, with which the cell goes on'],
    ...toJson(state, { indent: 2 }).split('\n'),
    'its plans ended with the fault; of its effects these are open and go on',
    ...(own.length === 0
      ? ['  none']
      : own.map(({ effect, name, attempt }) => `  ${effectLine(effect, name, attempt)}`)),
    `open effects of other cells, which go on in any case: ${others}`,
    'holds on it, which stay',
    ...(holds.length === 0 ? ['  none'] : holds.map(({ granter, hold }) => `  by ${granter}: ${toJson(hold)}`)),
  ];
  return `${lines.map(escapeLine).join('\n')}\n`;
}

function effectLine(effect: string, name: string, attempt: number): string {
  return `${name} ${effect.slice(0, 8)}…, ${attempt === 0 ? 'waits' : 'was started'}`;
}

/** Asks at a terminal. @throws RepriseError `invalid_argument` without a terminal */
async function isAgreed(io: Io): Promise<boolean> {
  if (!io.out.isTTY || process.stdin.isTTY !== true) {
    throw new RepriseError('invalid_argument', 'nobody can be asked whether to revive the cell: this is no terminal', {
      expected: '--yes',
      hint: 'Read what is printed above, then repeat the command with --yes.',
    });
  }
  const asking = createInterface({ input: process.stdin, output: process.stdout });
  try {
    return /^y(es)?$/i.test((await asking.question('Revive it? [y/N] ')).trim());
  } finally {
    asking.close();
  }
}
