/** The keys of the page. What is nearest to the eye answers first: the list of a screen before the page around it. */
import { useEffect, useRef } from 'preact/hooks';

/** What a key does; `false` leaves it to the next one. */
export type KeyMap = Readonly<Record<string, (event: KeyboardEvent) => unknown>>;

const stack: { readonly current: KeyMap }[] = [];

/** Answers to keys while the part of the page is shown. */
export function useKeys(keys: KeyMap): void {
  const latest = useRef(keys);
  latest.current = keys;
  useEffect(() => {
    stack.push(latest);
    return () => void stack.splice(stack.indexOf(latest), 1);
  }, []);
}

/** Begins to listen to keys. Keys with a modifier belong to the browser, and letters in a field to the field. */
export function startKeys(): void {
  addEventListener('keydown', (event) => {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
    if (isTyping(event.target) && event.key !== 'Escape') return;
    for (const { current } of [...stack].reverse()) {
      const act = current[event.key];
      if (act === undefined || act(event) === false) continue;
      event.preventDefault();
      return;
    }
  });
}

function isTyping(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName);
}
