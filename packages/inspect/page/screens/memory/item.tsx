/** The detail of an item: its words, who wrote it, what it comes from, who judged it, what came of it, and who may read it. */
import type { MemoryRow, MemoryStep, MemoryVerdict } from '@reprise/operators';
import type { ComponentChildren } from 'preact';
import type { MemoryReport } from '../../../src/contract/reports.js';
import { Shown } from '../../parts/answer.js';
import { Command } from '../../parts/copy.js';
import { Detail, Fact } from '../../parts/facts.js';
import { Text } from '../../parts/text.js';
import { Clock, FrameLink } from '../../parts/when.js';
import { useLive } from '../../state/live.js';
import { hrefOf } from '../../state/router.js';
import { useReportAt } from '../../state/use-report.js';
import { safe } from '../../words/names.js';
import { amount } from '../../words/numbers.js';
import { iso, moment } from '../../words/time.js';
import { Readers } from './readers.js';
import { actedBy, authorName, earlyWords, score, sessionWords, storeName } from './words.js';

/** The pane of one item. */
export function Item({ item }: { readonly item: string }) {
  const answer = useReportAt<MemoryReport>('memory', { item });
  return (
    <Detail title="The selected item">
      <Shown of={answer} what="this item">
        {({ rows: [row] }) => (row === undefined ? null : <Facts row={row} />)}
      </Shown>
    </Detail>
  );
}

function Facts({ row }: { readonly row: MemoryRow }) {
  const { item, type, text, gone, at, frame, before_answers: early, verdicts, store, id } = row;
  const { path } = useLive();
  return (
    <dl>
      <Fact name="what">
        {text === null ? <p class="quiet">Its words are {gone}.</p> : <Text text={text} open />}
        <p class="quiet">
          {safe(type)} in {storeName(row)},{' '}
          <a href={hrefOf({ screen: 'memory', parts: [store, id], query: { sel: null } })}>#{id}</a>
        </p>
      </Fact>
      <Fact name="who">{authorName(row)}</Fact>
      <Fact name="when">
        <Clock ms={at} />
        {frame !== null && (
          <>
            {' · '}
            <FrameLink frame={frame} />
          </>
        )}{' '}
        <span class="quiet num iso">{iso(at)}</span>
        {early !== null && (
          <p class="note warn">
            written before any reader had answered. <span>{earlyWords(early)}</span>
          </p>
        )}
      </Fact>
      <Fact name="comes from">
        <Path row={row} />
      </Fact>
      <Fact name="verdicts">
        {verdicts.length === 0 ? (
          <span class="quiet">Nobody has judged it.</span>
        ) : (
          <ul class="verdicts kept-in">
            {verdicts.map((verdict) => (
              <Verdict key={`${verdict.frame} ${verdict.observer.id} ${verdict.verdict}`} of={verdict} />
            ))}
          </ul>
        )}
      </Fact>
      <Fact name="came of it">
        <Outcome row={row} />
      </Fact>
      <Fact name="readers">
        <a href={hrefOf({ screen: 'rights', query: { item, sel: null } })}>on a screen of its own</a>
        <Readers item={item} />
      </Fact>
      <Fact name="in a shell">
        <Command line={`reprise memory ${path} ${item}`} short />
      </Fact>
    </dl>
  );
}

/** The path from an item to what it comes from: each step a link. */
function Path({ row: { act, copy_of, taken_over, from } }: { readonly row: MemoryRow }) {
  return (
    <ol class="path kept-in">
      {copy_of !== null && (
        <Step>
          a copy of <ItemLink item={copy_of} />
        </Step>
      )}
      {taken_over !== null && (
        <Step>
          taken over from {safe(taken_over.from.name ?? taken_over.from.cell)},{' '}
          {taken_over.reviewed ? 'after a review' : 'without a review'}
        </Step>
      )}
      {act !== null && (
        <Step>
          <Act act={act} />
        </Step>
      )}
      {from.map((step) => (
        <Step key={`${step.kind} ${step.id}`}>
          <Place step={step} />
        </Step>
      ))}
    </ol>
  );
}

function Step({ children }: { readonly children: ComponentChildren }) {
  return <li>{children}</li>;
}

/** The call or the request that wrote it: the story has the words that it answers. */
function Act({ act: { of, run, step, place, by } }: { readonly act: NonNullable<MemoryRow['act']> }) {
  if (of === null) {
    const [frame = '', i = ''] = place.split('.');
    return (
      <>
        a <a href={hrefOf({ screen: 'f', parts: [frame, i] })}>request</a> of {actedBy(by ?? 'operator')}
      </>
    );
  }
  const where = step === null ? 'a call' : `step ${step} of run ${run}`;
  return (
    <>
      <a href={hrefOf({ screen: 'story', parts: of.session === null ? [] : [of.session], query: { sel: place } })}>
        {where}
      </a>{' '}
      of {sessionWords(of)}
    </>
  );
}

function Place({ step: { kind, id, title, frame, words } }: { readonly step: MemoryStep }) {
  const named =
    title.startsWith(`${kind} `) || title === ''
      ? `${kind} ${id}`
      : kind === 'message'
        ? safe(title)
        : `${kind} ${id}: ${safe(title)}`;
  return (
    <>
      {frame === null ? `${named}, stated in no frame of this file` : <FrameLink frame={frame} text={named} />}
      {words !== null && <p class="quiet">{safe(words)}</p>}
    </>
  );
}

/** The link to another item. */
function ItemLink({ item }: { readonly item: string }) {
  const at = item.lastIndexOf('#');
  const [store, id] = [item.slice(0, at), item.slice(at + 1)];
  return <a href={hrefOf({ screen: 'memory', parts: [store, id], query: { sel: null } })}>{safe(item)}</a>;
}

function Verdict({ of: { verdict, observer, by, basis, trust, stands, frame } }: { readonly of: MemoryVerdict }) {
  const said = verdict === 'retract' ? 'taken back' : verdict;
  return (
    <li>
      <strong class={verdict === 'wrong' ? 'bad' : ''}>{said}</strong> by {safe(observer.name)}
      {by !== null && ` (${actedBy(by)})`}, <FrameLink frame={frame} />
      <span class="quiet">
        {basis !== null && ` · ${safe(basis.replace('_', ' '))}`}
        {trust !== null && ` · trust ${score(trust.old_ppm)} → ${score(trust.ppm)}, ${safe(trust.tier)}`}
        {!stands && ' · it no longer counts'}
      </span>
    </li>
  );
}

/** What became of an item. */
function Outcome({
  row: { state, replaced_by, changed, erased, revision, score: points, uses, expires_at },
}: {
  readonly row: MemoryRow;
}) {
  return (
    <>
      {safe(state)}
      {replaced_by !== null && (
        <>
          , replaced by <ItemLink item={replaced_by} />
        </>
      )}
      {changed !== null && (
        <>
          , changed in <FrameLink frame={changed.frame} />
        </>
      )}
      {erased !== null && (
        <>
          , erased in <FrameLink frame={erased.frame} />
        </>
      )}
      <p class="quiet">
        {amount(uses, 'use')}, score {points}, revision {revision}
        {expires_at !== null && `, until ${moment(expires_at)}`}
      </p>
    </>
  );
}
