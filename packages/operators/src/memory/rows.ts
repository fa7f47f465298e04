/** An item of a memory as a row of the report. */
import type { ContentReader } from '@reprise/kernel';
import { authorOf, entityOfAuthor } from '@reprise/society/contracts';
import type { WorldNames } from '../names/world-names.js';
import { firstWords, saltedText } from '../texts/index.js';
import type { StoredItem } from './items.js';
import { actOfOrigin, stepsOf } from './provenance.js';
import type { MemoryRow, MemoryVerdict, MemoryWrite } from './report.js';
import type { ItemTrail, MemoryTrail, PlacedAct } from './trail.js';

/** What rows are made from. */
export interface Reading {
  readonly trail: MemoryTrail;
  readonly names: WorldNames;
  readonly content: ContentReader;
  /** Whether all words of an item are shown. */
  readonly isWhole: boolean;
  /** The entity that leads a swarm. */
  readonly leads: ReadonlyMap<string, string>;
  nameOf(cell: string): string | null;
}

/** The row of an item. */
export async function rowOf({ name, store, id, item }: StoredItem, reading: Reading): Promise<MemoryRow> {
  const { trail, content, isWhole } = reading;
  const found = trail.items.get(name) ?? NOTHING;
  // What a fork inherits was written in no frame of it: its first change is not its beginning.
  const isWritten = found.written !== undefined && found.written.at === item.created_at;
  const changed = isWritten ? found.changed : (found.changed ?? found.written);
  const { text, gone } = await saltedText(content, item.content_ref);
  const act = isWritten ? (found.act ?? actOfOrigin(item, trail)) : undefined;
  const { type, created_at: at, state, revision, score, uses, expires_at } = item;
  return {
    ...{
      item: name,
      store,
      store_of: ownerOf(store, reading),
      id,
      type,
      words: firstWords(text),
      text: isWhole ? text : null,
      gone,
    },
    erased: trail.erasedAt(item.content_ref),
    author: writerOf(authorOf(item), reading),
    taken_over: takenOver(item, reading),
    copy_of: found.copy_of ?? null,
    ...{ at, frame: isWritten ? (found.written?.frame ?? null) : null },
    act: act === undefined ? null : shownAct(act, reading),
    before_answers: isWritten ? beforeAnswers(item, found, reading) : null,
    from: [...(await stepsOf(item, { trail, content, isCopy: found.copy_of !== undefined }))],
    ...{ state, changed: changed ?? null, replaced_by: found.replaced ?? null, revision, score, uses, expires_at },
    verdicts: verdictsOf(found, reading),
  };
}

/** The stores of one entity, by the beginning of their scopes. */
const OWN = /^(?:private|l1-notes|staging):([^.]+)/;

function ownerOf(store: string, { names }: Reading): string | null {
  const [, id] = OWN.exec(store) ?? [];
  return id === undefined ? null : (names.entityName(id) ?? null);
}

const NOTHING: ItemTrail = { verdicts: [], unanswered: [] };

function writerOf(cell: string, { nameOf }: Reading): MemoryRow['author'] {
  return { cell, name: nameOf(cell) };
}

function takenOver({ author, origin }: StoredItem['item'], reading: Reading): MemoryRow['taken_over'] {
  if (origin?.of === undefined) return null;
  const [from, by] = [writerOf(origin.of, reading), writerOf(author, reading)];
  return { from, by, reviewed: origin.unreviewed !== true };
}

function shownAct({ session, run, step, frame, i, by }: PlacedAct, { names }: Reading): MemoryWrite {
  return { of: session === null ? null : names.ownerOf(session), run, step, place: `${frame}.${i}`, by };
}

/** Whether the lead of a swarm wrote an item while none of its tasks had an answer. */
function beforeAnswers(
  item: StoredItem['item'],
  { unanswered }: ItemTrail,
  { leads }: Reading,
): MemoryRow['before_answers'] {
  const author = entityOfAuthor(authorOf(item));
  return unanswered.find(({ swarm }) => author !== undefined && leads.get(swarm) === author) ?? null;
}

function verdictsOf({ verdicts }: ItemTrail, { names }: Reading): MemoryVerdict[] {
  return verdicts.map(({ observer, agent: _agent, item: _item, ...verdict }, i) => {
    const isLast = !verdicts.slice(i + 1).some((later) => later.observer === observer && later.verdict !== 'validated');
    return {
      ...verdict,
      observer: { id: observer, name: names.entityName(observer) ?? observer },
      stands: verdict.verdict === 'validated' || (isLast && verdict.verdict !== 'retract'),
    };
  });
}
