/** Activity along the slider: how much was recorded in each stretch, amber where a person is waited for, red where something failed. */
import type { NowReport, StripReport } from '../../src/contract/reports.js';
import { useReport, useReportAt } from '../state/use-report.js';

interface StripProps {
  readonly max: number;
  readonly a: number | null;
  readonly b: number | null;
  readonly onPick: (frame: number) => void;
}

/** How many stretches are asked for: about one for each four pixels of a wide page. */
const BUCKETS = 160;
const HEIGHT = 28;
const WIDTH = 1_000;

/** The strip. A press on it moves to the frame there. */
export function Strip({ max, a, b, onPick }: StripProps) {
  const { data: now, failure } = useReportAt<NowReport>('now');
  // After the first screen is painted: the strip reads frames all over the journal.
  const isPainted = now !== undefined || failure !== undefined;
  const { data } = useReport<StripReport>(isPainted ? 'strip' : null, { buckets: BUCKETS });
  const buckets = data?.buckets ?? [];
  const most = Math.max(1, ...buckets.map(({ bytes }) => bytes));
  const x = (frame: number) => (max <= 0 ? 0 : (frame / max) * WIDTH);
  const marks = [
    ...(now?.waiting ?? []).flatMap(({ frame }) => (frame === null ? [] : [{ frame, kind: 'waits' }])),
    ...(now?.trouble ?? []).flatMap(({ place }) => (place === null ? [] : [{ frame: place.frame, kind: 'failed' }])),
  ];
  const pick = (event: MouseEvent) => {
    const box = (event.currentTarget as Element).getBoundingClientRect();
    onPick(Math.max(0, Math.min(max, Math.round(((event.clientX - box.left) / box.width) * max))));
  };
  return (
    <svg class="strip" viewBox={`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="none" aria-hidden="true" onClick={pick}>
      {a !== null && b !== null && (
        <rect class="between" x={x(Math.min(a, b))} y={0} width={Math.max(1, Math.abs(x(b) - x(a)))} height={HEIGHT} />
      )}
      {buckets.map(({ from, to, bytes }) => {
        const height = 2 + Math.sqrt(bytes / most) * (HEIGHT - 6);
        // A frame stands in the middle of its bar, where the handle of the slider is.
        const [left, right] = [Math.max(0, x(from - 0.5)), Math.min(WIDTH, x(to + 0.5))];
        return (
          <rect
            key={from}
            class="bar"
            x={left}
            y={HEIGHT - height}
            width={Math.max(1, right - left - 1)}
            height={height}
          />
        );
      })}
      {marks.map(({ frame, kind }, i) => (
        <rect
          key={i}
          class={kind}
          x={Math.max(0, Math.min(WIDTH - 3, x(frame) - 1.5))}
          y={0}
          width={3}
          height={HEIGHT}
        />
      ))}
    </svg>
  );
}
