/** Something on the slider that is moved by the pointer and by keys. */
import { useRef } from 'preact/hooks';

interface ThumbProps {
  readonly name: string;
  readonly label: string;
  readonly value: number;
  readonly max: number;
  /** The value in words. */
  readonly words: string;
  /** Where it is, or will be as soon as the page is drawn again: keys may come faster. */
  readonly current: () => number;
  readonly onMove: (value: number) => void;
}

/** How far each key moves, in frames; the page keys move by the length between two kept states. */
const STEPS: Readonly<Record<string, number>> = {
  ...{ ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1, PageUp: 256, PageDown: -256 },
};

/** A handle of the slider. */
export function Thumb({ name, label, value, max, words, current, onMove }: ThumbProps) {
  const moving = useRef(false);
  const bounded = (to: number) => Math.max(0, Math.min(max, Math.round(to)));
  const byPointer = (event: PointerEvent) => {
    const box = (event.currentTarget as HTMLElement).parentElement?.getBoundingClientRect();
    if (box !== undefined && box.width > 0) onMove(bounded(((event.clientX - box.left) / box.width) * max));
  };
  const byKey = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const step = STEPS[event.key];
    const to =
      event.key === 'Home'
        ? 0
        : event.key === 'End'
          ? max
          : step === undefined
            ? null
            : current() + step * (event.shiftKey ? 10 : 1);
    if (to === null) return;
    event.preventDefault();
    onMove(bounded(to));
  };
  return (
    <div
      class={`thumb ${name}`}
      style={{ left: `${max <= 0 ? 100 : Math.min(1, value / max) * 100}%` }}
      role="slider"
      tabIndex={0}
      aria-label={label}
      aria-valuemin={0}
      aria-valuemax={Math.max(0, max)}
      aria-valuenow={value}
      aria-valuetext={words}
      onKeyDown={byKey}
      onPointerDown={(event) => {
        moving.current = true;
        event.currentTarget.setPointerCapture(event.pointerId);
      }}
      onPointerMove={(event) => {
        if (moving.current) byPointer(event);
      }}
      onPointerUp={() => {
        moving.current = false;
      }}
    >
      <span aria-hidden="true">{name === 'at' ? '' : name.toUpperCase()}</span>
    </div>
  );
}
