/** The detail of something: always the same questions, in the same order. */
import type { ComponentChildren } from 'preact';

/** A question of the detail and its answer; without an answer nothing is shown. */
export function Fact({ name, children }: { readonly name: string; readonly children: ComponentChildren }) {
  if (children === null || children === undefined || children === false) return null;
  return (
    <div class="fact">
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}

/** The pane beside a list. */
export function Detail({ title, children }: { readonly title: string; readonly children: ComponentChildren }) {
  return (
    <aside class="detail" aria-label={title} tabIndex={0}>
      {children}
    </aside>
  );
}

/** A part of a screen with its title. */
export function Part({
  title,
  count,
  aside,
  children,
}: {
  readonly title: string;
  readonly count?: number | string | undefined;
  readonly aside?: ComponentChildren;
  readonly children: ComponentChildren;
}) {
  return (
    <section class="part">
      <header>
        <h2>
          {title}
          {count !== undefined && <span class="count"> {count}</span>}
        </h2>
        {aside}
      </header>
      {children}
    </section>
  );
}
