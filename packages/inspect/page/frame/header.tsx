/** The line at the top: which file it is, how far it goes, who has it open, whether its chain of hashes holds. */
import type { WorldReport } from '../../src/contract/reports.js';
import { Ago } from '../parts/when.js';
import { useLive } from '../state/live.js';
import { hrefOf } from '../state/router.js';
import { safe } from '../words/names.js';
import { amount } from '../words/numbers.js';
import { span } from '../words/time.js';
import { Verify } from './verify.js';

interface HeaderProps {
  readonly world: WorldReport;
  readonly onSearch: () => void;
  readonly onHelp: () => void;
}

/** The header of every screen. */
export function Header({ world, onSearch, onHelp }: HeaderProps) {
  const live = useLive();
  return (
    <header class="top">
      <a class="brand" href={hrefOf({ screen: 'now', query: { at: null } })}>
        Reprise
      </a>
      <h1 class="file" title={world.path}>
        {safe(world.path)}
      </h1>
      <span class="quiet num">{amount(live.frame + 1, 'frame')}</span>
      <span class="quiet wide">
        last <Ago ms={live.at} />
      </span>
      <Process />
      <Verify head={live.frame} />
      <span class="push" />
      <button type="button" class="ghost" onClick={onSearch}>
        <kbd>/</kbd> <span>search</span>
      </button>
      <button type="button" class="ghost" onClick={onHelp}>
        <kbd>?</kbd> <span>keys</span>
      </button>
    </header>
  );
}

/** A process that has written nothing for so long may be idle, or stopped: nobody can tell. */
const SILENT_MS = 8_000;

const WORDS: Readonly<Record<WorldReport['process'], string>> = {
  open: 'a process has it open',
  closed: 'no process has it open',
  died: 'the process that had it open is gone',
  unknown: 'not known whether a process has it open',
};

/** Whether a process has the world open, in words; the sign says it once more. */
function Process() {
  const { process, silent_ms, isConnected } = useLive();
  if (!isConnected)
    return (
      <span class="pill warn" role="status">
        <i class="dot gone" /> not connected to <code>reprise inspect</code>
      </span>
    );
  const isSilent = process === 'open' && silent_ms >= SILENT_MS;
  return (
    <span class={`pill ${process === 'died' ? 'bad' : process === 'open' ? 'live' : ''}`} role="status">
      <i class={`dot ${process}`} /> {WORDS[process]}
      {isSilent && `, silent for ${span(silent_ms)}`}
    </span>
  );
}
