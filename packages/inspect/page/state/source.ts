/** Values that live outside the components, and change by themselves. */
import { useEffect, useState } from 'preact/hooks';

/** A value that says when it changes. */
export interface Source<T> {
  get(): T;
  set(value: T): void;
  /** Calls after each change until the answer is called. */
  watch(listener: () => void): () => void;
}

/** Makes a source. */
export function sourceOf<T>(first: T): Source<T> {
  let value = first;
  const listeners = new Set<() => void>();
  return {
    get: () => value,
    set(next) {
      value = next;
      for (const listener of [...listeners]) listener();
    },
    watch(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
}

/** The value of a source, again after each change. */
export function useSource<T>(source: Source<T>): T {
  const [, again] = useState({});
  useEffect(() => source.watch(() => again({})), [source]);
  return source.get();
}
