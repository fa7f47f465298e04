/** What a holder may do at the frame that is shown, and what in its chain says so. */
import type { RightsLink } from '@reprise/operators';
import { useState } from 'preact/hooks';
import type { RightsReport, SocietyReport, WaitingReport } from '../../src/contract/reports.js';
import { Shown } from '../parts/answer.js';
import { Fact, Part } from '../parts/facts.js';
import { FrameLink } from '../parts/when.js';
import { set, useRoute } from '../state/router.js';
import { useReportAt } from '../state/use-report.js';
import { cellName, holderOf, ownerName, plain, safe } from '../words/names.js';
import { moment } from '../words/time.js';
import { Readers } from './memory/readers.js';
import type { ScreenProps } from './screen.js';

type Capability = NonNullable<RightsReport['exercise']>;

/** Rights of one holder, or who may read an item. */
export function Rights({ world }: ScreenProps) {
  const { holder = 'operator', item } = useRoute().query;
  return (
    <div class="single">
      <Part title="Rights">
        <Modes item={item} />
      </Part>
      {item === undefined ? <OfHolder holder={holder} world={world} /> : <OfItem item={item} />}
    </div>
  );
}

/** Who may read an item at the frame that is shown. */
function OfItem({ item }: { readonly item: string }) {
  const { at } = useRoute().query;
  const isPast = at !== undefined;
  return (
    <Part title={`Who ${isPast ? 'could' : 'can'} read ${safe(item)}${isPast ? ` at frame ${at}` : ''}`}>
      <Readers item={item} />
    </Part>
  );
}

function Modes({ item }: { readonly item: string | undefined }) {
  const [text, setText] = useState(item ?? '');
  return (
    <form
      class="bar"
      onSubmit={(event) => {
        event.preventDefault();
        set({ item: text.trim() === '' ? null : text.trim() });
      }}
    >
      <label>
        <span class="quiet">who could read</span>{' '}
        <input
          type="text"
          value={text}
          placeholder="group:research#7"
          onInput={({ currentTarget }) => setText(currentTarget.value)}
        />
      </label>
      <button type="submit">list readers</button>
      {item !== undefined && (
        <button type="button" onClick={() => set({ item: null })}>
          rights of a holder
        </button>
      )}
    </form>
  );
}

function OfHolder({ holder, world }: ScreenProps & { readonly holder: string }) {
  const society = useReportAt<SocietyReport>(world.parts.society ? 'society' : null).data;
  const waiting = useReportAt<WaitingReport>('waiting').data;
  const answer = useReportAt<RightsReport>('rights', { holder });
  const known = holdersOf(society, waiting);
  return (
    <>
      <Part title="Rights of">
        <Chooser holder={holder} known={known} />
      </Part>
      <Shown of={answer} what="these rights">
        {(report) => <Report report={report} />}
      </Shown>
    </>
  );
}

interface Holder {
  readonly holder: string;
  readonly name: string;
}

function holdersOf(society: SocietyReport | undefined, waiting: WaitingReport | undefined): readonly Holder[] {
  const entities = (society?.entities ?? []).map((entity) => ({
    holder: holderOf(entity),
    name: `${safe(entity.name)} (${safe(entity.kind)})`,
  }));
  const cells = (waiting?.waiting ?? []).map(({ of }) => ({ holder: `cell:${of.cell}`, name: ownerName(of) }));
  const all = [
    { holder: 'operator', name: 'the operator' },
    { holder: 'human:*', name: 'every person' },
    ...entities,
    ...cells,
  ];
  return all.filter(({ holder }, i) => all.findIndex((one) => one.holder === holder) === i);
}

function Chooser({ holder, known }: { readonly holder: string; readonly known: readonly Holder[] }) {
  const [text, setText] = useState('');
  return (
    <form
      class="bar"
      onSubmit={(event) => {
        event.preventDefault();
        if (text.trim() !== '') set({ holder: text.trim() });
      }}
    >
      <label>
        <span class="quiet">one of</span>{' '}
        <select value={holder} onChange={({ currentTarget }) => set({ holder: currentTarget.value })}>
          {!known.some((one) => one.holder === holder) && <option value={holder}>{cellName(holder)}</option>}
          {known.map((one) => (
            <option key={one.holder} value={one.holder}>
              {one.name}
            </option>
          ))}
        </select>
      </label>
      <label>
        <span class="quiet">or</span>{' '}
        <input
          type="text"
          value={text}
          placeholder="human:ann, cell:…"
          onInput={({ currentTarget }) => setText(currentTarget.value)}
        />
      </label>
      <button type="submit">show</button>
    </form>
  );
}

function Report({ report }: { readonly report: RightsReport }) {
  return (
    <>
      {report.broken && <p class="bad">Its chain has a maker that was made anew: it permits nothing.</p>}
      <Part title="May do">
        <Table of={report.exercise} isBroken={report.broken} />
      </Part>
      <Part title="May hand on">
        <Table of={report.grant} isBroken={report.broken} />
      </Part>
      <Part title="What says so" count={report.chain.length}>
        {report.chain.length === 0 && <p class="quiet">Nothing was set for it or for a cell above it.</p>}
        {report.chain.map((link) => (
          <Link key={link.holder} link={link} />
        ))}
      </Part>
    </>
  );
}

/** A capability by its dimensions: what it does not name, it does not narrow. */
function Table({ of, isBroken }: { readonly of: Capability | null; readonly isBroken: boolean }) {
  if (isBroken) return <p class="quiet">Nothing.</p>;
  const kinds = Object.entries(of?.may ?? {});
  if (of === null || kinds.length === 0) return <p class="quiet">Everything: nothing narrows it.</p>;
  return (
    <>
      <table>
        <thead>
          <tr>
            <th scope="col">kind</th>
            <th scope="col">which</th>
          </tr>
        </thead>
        <tbody>
          {kinds.map(([kind, patterns]) => (
            <tr key={kind}>
              <th scope="row">{safe(kind)}</th>
              <td>{patterns.length === 0 ? 'nothing' : patterns.map((one) => safe(String(one))).join(', ')}</td>
            </tr>
          ))}
        </tbody>
      </table>
      <p class="quiet">It may do everything of the kinds that are not listed.</p>
      {of.expires_at !== undefined && <p class="quiet">until {moment(of.expires_at)}</p>}
      {of.max_parallel !== undefined && <p class="quiet">at most {of.max_parallel} at the same time</p>}
    </>
  );
}

function Link({ link: { holder, name, exercise, grant, holds, approved, since } }: { readonly link: RightsLink }) {
  return (
    <section class="box">
      <h3>
        {safe(name ?? cellName(holder.replace(/^human:/, '')))}{' '}
        {name !== null && <span class="quiet">{plain(safe(holder.split(':')[0] ?? ''))}</span>}
      </h3>
      <dl>
        <Fact name="may do">{exercise !== null && <Table of={exercise} isBroken={false} />}</Fact>
        <Fact name="may hand on">{grant !== null && <Table of={grant} isBroken={false} />}</Fact>
        <Fact name="held to by">
          {holds.length === 0 ? null : holds.map(({ granter }) => cellName(granter)).join(', ')}
        </Fact>
        <Fact name="approved for good">
          {approved.length === 0
            ? null
            : approved
                .map(([kind, until]) => `${safe(kind)}${until === null ? '' : ` until ${moment(until)}`}`)
                .join(', ')}
        </Fact>
        <Fact name="set">
          {since === null ? (
            'before the first frame of this file, or by the definition'
          ) : (
            <>
              by {plain(safe(since.by))}, <FrameLink frame={since.frame} />
            </>
          )}
        </Fact>
      </dl>
    </section>
  );
}
