/** Goes back: makes a fork of the world that continues from an earlier moment. The original world does not change. */
import { sqlite } from 'reprise/sqlite';
import { type Restored, restoreFiles } from 'reprise/tools';
import type { Chat } from './chat.js';
import { messagesOf } from './log.js';
import { worldFile, worldsIn } from './places.js';

/** `/fork`: from here; `/fork 2`: before message 2; `/fork @40`: after frame 40. */
export async function fork(chat: Chat, where: string): Promise<void> {
  const { world, session, options, number } = chat.desk;
  if (chat.isWorking) return chat.complain('it works: Ctrl-C stops it');
  const at = await frameFor(chat, where);
  if (at === undefined) return;
  const next = ((await worldsIn(options.worlds)).at(-1) ?? number) + 1;
  // The fork gets the same rights as this world, because the user and the folder are the same.
  await world.fork({ at, into: sqlite(worldFile(options.worlds, next)), mode: 'live', grants: { may: {} } });
  const root = options.folder;
  const plan = await restoreFiles(world.kernel, { at, root, session: session.key, dryRun: true });
  chat.tell(...told(plan));
  if (plan.files.some(({ how }) => how === 'written' || how === 'removed')) {
    if (await chat.ask('Set these files back?')) await restoreFiles(world.kernel, { at, root, session: session.key });
    else chat.tell('They stay as they are: the agent may remember them otherwise.');
  }
  await chat.move({ ...options, world: next, fresh: false });
  chat.tell(`This is world ${next} now, a fork of world ${number} after frame ${at}; /worlds lists them.`);
}

async function frameFor(chat: Chat, where: string): Promise<number | undefined> {
  const { kernel } = chat.desk.world;
  const [, sign, digits] = where.match(/^(@?)(\d{1,9})$/) ?? [];
  if (where === '') return kernel.head.seq;
  if (digits === undefined) chat.complain('/fork, /fork NUMBER of a message (see /log), or /fork @FRAME');
  else if (sign === '@') {
    if (Number(digits) <= kernel.head.seq) return Number(digits);
    chat.complain(`there is no frame ${digits}; the last one is ${kernel.head.seq}`);
  } else {
    const message = (await messagesOf(chat.desk.session)).find(({ number }) => number === Number(digits));
    if (message !== undefined) return message.frame - 1;
    chat.complain(`there is no message ${digits}; /log lists them`);
  }
  return undefined;
}

const WILL: Readonly<Record<Restored['files'][number]['how'], string>> = {
  as_it_was: 'is as it was',
  written: 'would be set back',
  removed: 'was not there, and would go away',
  kept: 'stays as it is',
};

/** Reports which files can be restored, and which changes are unknown. */
function told({ files, unseen }: Restored): string[] {
  const lines = files.map(({ path, how, why }) => `  ${path} ${WILL[how]}${why === undefined ? '' : `: ${why}`}`);
  const heading = 'Files are not part of the journal. The agent itself wrote these:';
  const blind = unseen.map(({ tool, seq }) => `${tool} (frame ${seq})`).join(', ');
  return [
    ...(lines.length === 0 ? ['The agent itself has not written any file yet.'] : [heading, ...lines]),
    ...(unseen.length === 0 ? [] : [`  Changes by these calls were not recorded and will not be restored: ${blind}`]),
  ];
}
