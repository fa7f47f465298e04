/** The button that has the chain of hashes computed again, and what came of it. */
import { useState } from 'preact/hooks';
import type { VerifyMessage } from '../../src/contract/reports.js';
import { ask, ReportFailure } from '../state/api.js';
import { safe } from '../words/names.js';

type State =
  | { readonly is: 'idle' }
  | { readonly is: 'running'; readonly frame: number; readonly of: number }
  | { readonly is: 'done'; readonly frame: number }
  | { readonly is: 'failed'; readonly words: string };

/** Verifies the world on request. @param head the newest frame: what came later is not verified yet */
export function Verify({ head }: { readonly head: number }) {
  const [state, setState] = useState<State>({ is: 'idle' });
  const start = () => {
    setState({ is: 'running', frame: 0, of: head });
    verify(setState).catch((error: unknown) => {
      const words = error instanceof ReportFailure ? error.report.message : String(error);
      setState({ is: 'failed', words });
    });
  };
  return (
    <span class="verify" role="status">
      {state.is === 'running' && <span class="quiet num">verifying {percent(state)} %</span>}
      {state.is === 'done' && (
        <span class="good">✓ heads match{state.frame < head ? ` up to frame ${state.frame}` : ''}</span>
      )}
      {state.is === 'failed' && <span class="bad">✕ {safe(state.words)}</span>}
      {state.is !== 'running' && (
        <button type="button" onClick={start}>
          {state.is === 'idle' ? 'verify' : 'verify again'}
        </button>
      )}
    </span>
  );
}

function percent({ frame, of }: { readonly frame: number; readonly of: number }): number {
  return of <= 0 ? 100 : Math.floor((frame / of) * 100);
}

async function verify(report: (state: State) => void): Promise<void> {
  const { body } = await ask('/api/verify', { method: 'POST' });
  if (body === null) return;
  const reader = body.pipeThrough(new TextDecoderStream() as TransformStream<Uint8Array, string>).getReader();
  let text = '';
  for (;;) {
    const { value, done } = await reader.read();
    const lines = (text + (value ?? '')).split('\n');
    text = done ? '' : (lines.pop() ?? '');
    for (const line of lines) if (line.trim() !== '') report(stateOf(JSON.parse(line) as VerifyMessage));
    if (done) return;
  }
}

function stateOf(message: VerifyMessage): State {
  if (message.type === 'progress') return { is: 'running', frame: message.frame, of: message.of };
  if (message.type === 'done') return { is: 'done', frame: message.frame };
  return { is: 'failed', words: message.error.message };
}
