/**
 * Time travel: one slider moves every screen. `at` is the frame that is shown; without it the page shows the newest frame
 * and goes on with the world. A and B mark two frames to compare.
 */
import { useEffect, useRef, useState } from 'preact/hooks';
import type { NowReport, WorldReport } from '../../src/contract/reports.js';
import { useKeys } from '../state/keys.js';
import { useLive } from '../state/live.js';
import { go, here, hrefOf, set, useRoute } from '../state/router.js';
import { useReportAt } from '../state/use-report.js';
import { clock, day } from '../words/time.js';
import { Strip } from './strip.js';
import { Thumb } from './thumb.js';

/** The slider at the foot of every screen. */
export function Slider({ world }: { readonly world: WorldReport }) {
  const live = useLive();
  const { query } = useRoute();
  const wanted = numberIn(query.at);
  const frame = wanted ?? live.frame;
  const [a, b] = [numberIn(query.a), numberIn(query.b)];
  const { move, current } = useMove(live.frame);
  const time = useTimeOf(wanted, live.at);
  const words = `frame ${frame}`;
  const step = (by: number) => () => move(Math.max(world.first.frame, Math.min(live.frame, current() + by)));
  useKeys({
    ...{ '[': step(-1), ']': step(1), '{': step(-10), '}': step(10) },
    a: () => set({ a: frame }),
    b: () => set({ b: frame }),
    l: () => set({ at: null }),
    c: () => go({ screen: 'compare' }),
  });
  return (
    <section class="slider" aria-label="Time">
      <div class="steps">
        <button type="button" aria-label="one frame back" title="key [" onClick={step(-1)} disabled={frame <= 0}>
          ◀
        </button>
        <button type="button" aria-label="one frame on" title="key ]" onClick={step(1)} disabled={frame >= live.frame}>
          ▶
        </button>
      </div>
      <div class="track">
        <Strip onPick={move} max={live.frame} a={a} b={b} />
        {a !== null && (
          <Thumb
            name="a"
            label="Mark A"
            value={a}
            max={live.frame}
            words={`frame ${a}`}
            current={() => numberIn(here().query.a) ?? a}
            onMove={(to) => set({ a: to })}
          />
        )}
        {b !== null && (
          <Thumb
            name="b"
            label="Mark B"
            value={b}
            max={live.frame}
            words={`frame ${b}`}
            current={() => numberIn(here().query.b) ?? b}
            onMove={(to) => set({ b: to })}
          />
        )}
        <Thumb
          name="at"
          label="Frame that is shown"
          value={frame}
          max={live.frame}
          words={words}
          current={current}
          onMove={move}
        />
      </div>
      <p class="asof" role="status">
        {wanted === null ? (
          <>
            <strong>now</strong>, <span class="num">frame {frame}</span>
          </>
        ) : (
          <>
            as of{' '}
            <strong class="num" title={time === null ? undefined : day(time)}>
              {time === null ? '…' : clock(time)}
            </strong>
            , <span class="num">frame {frame}</span>
          </>
        )}
      </p>
      <div class="marks">
        <button
          type="button"
          title="key a"
          aria-pressed={a !== null}
          onClick={() => set({ a: a === null ? frame : null })}
        >
          A{a !== null && <span class="num"> {a}</span>}
        </button>
        <button
          type="button"
          title="key b"
          aria-pressed={b !== null}
          onClick={() => set({ b: b === null ? frame : null })}
        >
          B{b !== null && <span class="num"> {b}</span>}
        </button>
        <a class="button wide" title="key c" href={hrefOf({ screen: 'compare' })}>
          compare
        </a>
        {wanted !== null && (
          <button type="button" title="key l" onClick={() => set({ at: null })}>
            newest
          </button>
        )}
      </div>
    </section>
  );
}

function numberIn(text: string | undefined): number | null {
  return text !== undefined && /^\d{1,15}$/.test(text) ? Number(text) : null;
}

/** Moves every screen at most once for each image of the display. @param newest the newest frame */
function useMove(newest: number): { readonly move: (to: number) => void; readonly current: () => number } {
  const wanted = useRef<number | null>(null);
  const last = useRef(newest);
  last.current = newest;
  const move = (to: number) => {
    const isScheduled = wanted.current !== null;
    wanted.current = to;
    if (isScheduled) return;
    requestAnimationFrame(() => {
      const frame = wanted.current;
      wanted.current = null;
      set({ at: frame === last.current ? null : frame });
    });
  };
  return { move, current: () => wanted.current ?? numberIn(here().query.at) ?? last.current };
}

/** The time of the frame that is shown, as its report says it; null while it is read. */
function useTimeOf(frame: number | null, newest: number): number | null {
  const now = useReportAt<NowReport>('now').data;
  const [time, setTime] = useState<number | null>(null);
  useEffect(() => {
    if (frame === null) setTime(newest);
    else if (now?.frame === frame) setTime(now.at);
    else setTime(null);
  }, [frame, newest, now]);
  return time;
}
