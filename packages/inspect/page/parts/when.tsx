/** Moments, and links to the frames that they stand in. */
import { useEffect, useState } from 'preact/hooks';
import { hrefOf } from '../state/router.js';
import { ago, clock, iso, moment } from '../words/time.js';

/** A time of day; the whole moment when it is pointed at. */
export function Clock({ ms }: { readonly ms: number }) {
  return (
    <time class="num" dateTime={iso(ms)} title={`${moment(ms)} here, ${iso(ms)}`}>
      {clock(ms)}
    </time>
  );
}

/** How long ago something was, kept true while it is shown. */
export function Ago({ ms, than }: { readonly ms: number; readonly than?: number | null | undefined }) {
  const [, again] = useState(0);
  useEffect(() => {
    const timer = setInterval(() => again((n) => n + 1), 1_000);
    return () => clearInterval(timer);
  }, []);
  return (
    <time dateTime={iso(ms)} title={`${moment(ms)} here, ${iso(ms)}`}>
      {ago(ms, than ?? Date.now())}
    </time>
  );
}

/** A link that moves every screen to a frame. */
export function FrameLink({ frame, text }: { readonly frame: number; readonly text?: string }) {
  return (
    <a class="num" href={hrefOf({ screen: 'f', parts: [frame] })}>
      {text ?? `frame ${frame}`}
    </a>
  );
}
