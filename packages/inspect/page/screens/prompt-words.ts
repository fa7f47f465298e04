/** The parts of a request as text. */
import type { PromptPart } from '@reprise/operators';

/** What a part holds, whole: the texts as they are, calls with their arguments, tools with their descriptions. */
export function partText({ part, value }: PromptPart): string {
  if (typeof value === 'string') return value;
  if (part === 'tools') return listIn(value).map(toolText).join('\n');
  const { text, parts, calls, opaque, media } = fieldsIn(value);
  const reasoning = listIn(opaque).flatMap((one) => {
    const { kind, text: said } = fieldsIn(one);
    return kind === 'reasoning' && typeof said === 'string' ? [`(thinks) ${said}`] : [];
  });
  const said = [...listIn(parts), ...listIn(media)].map(pieceText);
  const called = listIn(calls).map(
    (one) => `calls ${String(fieldsIn(one).tool)} ${JSON.stringify(fieldsIn(one).args)}`,
  );
  return [...reasoning, ...(typeof text === 'string' && text !== '' ? [text] : []), ...said, ...called].join('\n');
}

function toolText(tool: unknown): string {
  const { name, description, schema } = fieldsIn(tool);
  const fields = Object.keys(fieldsIn(fieldsIn(schema).properties)).join(', ');
  return `${String(name)}(${fields})  ${String(description ?? '')}`;
}

function pieceText(piece: unknown): string {
  const { kind, text, name, mediaType, bytes } = fieldsIn(piece);
  return kind === 'media' ? `[${String(name)}: ${String(mediaType)}, ${String(bytes)} bytes]` : String(text);
}

function listIn(thing: unknown): readonly unknown[] {
  return Array.isArray(thing) ? thing : [];
}

function fieldsIn(thing: unknown): Readonly<Record<string, unknown>> {
  return typeof thing === 'object' && thing !== null ? (thing as Readonly<Record<string, unknown>>) : {};
}
