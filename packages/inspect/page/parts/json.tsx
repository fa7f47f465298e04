/** A value as JSON, laid out over lines. */
import { Text } from './text.js';

/** A value as JSON. @param open whether a long one is shown whole at once */
export function Json({ value, open = false }: { readonly value: unknown; readonly open?: boolean }) {
  return <Text text={JSON.stringify(value, null, 2) ?? 'undefined'} code open={open} />;
}
