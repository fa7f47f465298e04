/** Lists that are moved through by keys: one row has the focus, and the address says which. */
import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { useKeys } from '../state/keys.js';
import { here, set, useRoute } from '../state/router.js';

/** The id of a row in the document, which its focus is remembered by. */
export function rowId(id: string): string {
  return `row-${id}`;
}

/**
 * Answers to `j`, `k`, Home and End by moving the selection through all rows of the screen, in their order on the page.
 *
 * @param ids of the rows of one list
 * @returns the selected row, when it is one of them
 */
export function useRows(ids: readonly string[]): string | undefined {
  const { sel } = useRoute().query;
  const move = (to: (at: number, length: number) => number) => {
    const all = [...document.querySelectorAll('main article.row')].map(({ id }) => id.slice(rowId('').length));
    const at = all.indexOf(here().query.sel ?? '');
    const id = all[Math.max(0, Math.min(all.length - 1, to(at, all.length)))];
    if (id !== undefined) select(id);
  };
  const down = () => move((at) => at + 1);
  const up = () => move((at, length) => (at === -1 ? length - 1 : at - 1));
  useKeys({
    ...{
      j: down,
      k: up,
      ArrowDown: down,
      ArrowUp: up,
      Home: () => move(() => 0),
      End: () => move((_, length) => length),
    },
    Escape: () => (here().query.sel === undefined ? false : set({ sel: null })),
  });
  return ids.includes(sel ?? '') ? sel : undefined;
}

/** Selects a row, and gives it the focus. */
export function select(id: string): void {
  set({ sel: id });
  requestAnimationFrame(() => {
    const row = document.getElementById(rowId(id));
    row?.focus({ preventScroll: true });
    row?.scrollIntoView({ block: 'nearest' });
  });
}

interface RowProps {
  readonly id: string;
  readonly isSelected: boolean;
  /** Whether Tab reaches it: the selected one, or the first one. */
  readonly isFirst?: boolean;
  readonly class?: string;
  /** What a click does; it selects the row when absent. */
  readonly onOpen?: () => void;
  readonly children: ComponentChildren;
}

/** A row of a list. */
export function Row({ id, isSelected, isFirst = false, class: name = '', onOpen, children }: RowProps) {
  const row = useRef<HTMLElement>(null);
  useEffect(() => {
    if (isSelected) row.current?.scrollIntoView({ block: 'nearest' });
  }, [isSelected]);
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the keys of useRows select rows
    <article
      ref={row}
      id={rowId(id)}
      class={`row ${name}${isSelected ? ' selected' : ''}`}
      tabIndex={isSelected || isFirst ? 0 : -1}
      aria-current={isSelected ? 'true' : undefined}
      onClick={({ target }) => {
        if (!isPlainClick(target)) return;
        if (onOpen === undefined) set({ sel: id });
        else onOpen();
      }}
    >
      {children}
    </article>
  );
}

/** Whether a click means the row: not a link in it, and no selection of text. */
function isPlainClick(target: EventTarget | null): boolean {
  if (!(getSelection()?.isCollapsed ?? true)) return false;
  return !(target instanceof Element && target.closest('a, button, input, summary') !== null);
}
