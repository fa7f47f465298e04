/** `reprise team why`: the chain from a memory to the words of the user. */
import { readText } from '@reprise/agent';
import { type Actor, actorOf, actorWords, isRepriseError, type Principal, RepriseError } from '@reprise/contracts';
import type { ReadonlyStore } from '@reprise/kernel';
import { readFrame } from '@reprise/kernel/store';
import { readViews } from '@reprise/kernel/views';
import { memoryItems, memoryPlaces, type Provenance, provenanceOf } from '@reprise/org';
import { scopeOf } from '@reprise/specialists/contracts';
import type { Io } from '../../process/io.js';
import { projectNamed, projectsIn } from '../../team/read-team.js';
import { escapeLine } from '../../text/escape.js';
import { toJson } from '../../text/json.js';
import { TREE_EXIT, type TreeExitCode } from '../../tree/exit.js';
import { withWorld } from '../../world/open.js';

/** The options of `team why`. */
interface WhyTeamOptions {
  readonly world: string;
  readonly project?: string;
  readonly json?: true;
}

/** Prints where a memory comes from. */
export async function whyTeam(io: Io, memory: string, options: WhyTeamOptions): Promise<TreeExitCode> {
  const id = /^#?(\d{1,12})$/.exec(memory)?.[1];
  if (id === undefined) throw unknown(memory, 'the number of a memory');
  await withWorld(options.world, async (store) => {
    const project = projectNamed(await projectsIn(store), options.project);
    await using views = await readViews(store, [memoryItems, memoryPlaces]);
    const found = await provenanceOf(views, scopeOf(project), Number(id));
    if (found === undefined) throw unknown(memory, 'a memory of this project: reprise team show memories');
    const words =
      found.text_ref === null ? null : await wordsOf(() => readText(store.content, found.text_ref as never));
    const chain = await Promise.all(found.chain.map(async (step) => ({ ...step, ...(await saidBy(store, step)) })));
    if (options.json === true) return io.out.write(`${toJson({ project, chain, words })}\n`);
    const lines = chain.map(({ kind, id: n, title, seq, by }) => {
      const named = title === '' || title === `${kind} ${n}` ? '' : `: ${title}`;
      return `${kind} ${n}${named}${by === undefined ? '' : ` by ${actorWords(by)}`} · frame ${seq}`;
    });
    const last = words === null ? 'The words of the user are not known.' : `“${words.replace(/\s+/g, ' ')}”`;
    await io.out.write([...lines, last].map((line) => `${escapeLine(line)}\n`).join(''));
  });
  return TREE_EXIT.complete;
}

/** Who said a message: its place is stated in the frame of its request. */
async function saidBy(
  { journal }: ReadonlyStore,
  { kind, seq }: Provenance['chain'][number],
): Promise<{ readonly by?: Actor }> {
  if (kind !== 'message') return {};
  for await (const { bytes } of journal.read(seq, seq)) {
    const { ingress } = readFrame(bytes, seq);
    if (ingress.kind === 'request') return { by: actorOf(ingress.principal as Principal, ingress.actor) };
  }
  return {};
}

function unknown(actual: string, expected: string): RepriseError {
  return new RepriseError('invalid_argument', 'the project has no such memory', { where: 'MEMORY', expected, actual });
}

async function wordsOf(read: () => Promise<string>): Promise<string> {
  try {
    return await read();
  } catch (error) {
    if (isRepriseError(error, 'blob_erased')) return '[This content was erased.]';
    throw error;
  }
}
