/** Reads tables of pages, and from the sources what such a table must hold. */
import { FAILURE_KINDS } from '@reprise/contracts';
import ts from 'typescript-5';

/** A row of a table: its cells, without the backticks around a whole cell. */
export type Row = readonly string[];

/** The rows of the first table under each heading, by the heading's text. Header rows are left out. */
export function tablesOf(page: string): Map<string, Row[]> {
  const tables = new Map<string, Row[]>();
  for (const section of page.split(/^#+ /m).slice(1)) {
    const [heading = '', ...lines] = section.split('\n');
    const first = lines.findIndex((line) => line.startsWith('|'));
    if (first < 0) continue;
    const rest = lines.slice(first + 2);
    const end = rest.findIndex((line) => !line.startsWith('|'));
    tables.set(bare(heading), (end < 0 ? rest : rest.slice(0, end)).map(cellsOf));
  }
  return tables;
}

function cellsOf(line: string): Row {
  return line.split('|').slice(1, -1).map(bare);
}

function bare(text: string): string {
  return text.trim().replace(/^`([^`]*)`$/, '$1');
}

/** A bound in a source: its name and its number. */
export type Bound = readonly [name: string, value: number];

/** The constants of a source that are numbers, written as one number or as a product of some. */
export function boundsIn(source: string): Bound[] {
  const found = source.matchAll(/^(?:export )?const ([A-Z][A-Z0-9_]*)(?:: number)? = ([\d_]+(?: \* [\d_]+)*);/gm);
  return [...found].map(([, name = '', text = '']) => [
    name,
    text.split('*').reduce((product, factor) => product * Number(factor.trim().replaceAll('_', '')), 1),
  ]);
}

/** The number that a cell begins with: `65,536 (64 KiB)`. */
export function numberIn(cell: string): number {
  return Number(/^[\d,]+/.exec(cell)?.[0].replaceAll(',', '') ?? Number.NaN);
}

/** Functions that make a failure code of a reason. */
const KIND_OF_CALL: Readonly<Record<string, string>> = {
  terminal: 'provider_error_terminal',
  retryable: 'provider_error_retryable',
};

/** The reasons that stand in a template such as `validation_error/${why}`, by its beginning; calls have their own. */
const REASONS_OF_TEMPLATE: Readonly<Record<string, readonly string[]>> = {
  'validation_error/': ['blob_erased', 'blob_missing', 'not_a_value', 'operation_unknown', 'too_many_links'],
  'tool_args_invalid/': ['args_not_json', 'args_not_object'],
  'provider_error_terminal/': [],
  'provider_error_retryable/': [],
  // A fault code, as the page describes it in a sentence.
  'internal_invariant_violation/': [],
};

/**
 * The failure codes that a source can give: literals, reasons in calls of `terminal` and `retryable`, and templates.
 * An unknown template gives a code that no page can have.
 */
export function failureCodesIn(file: string, text: string): string[] {
  const codes: string[] = [];
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.ES2022, true);
  const visit = (node: ts.Node): void => {
    if (ts.isStringLiteral(node)) {
      const call = ts.isCallExpression(node.parent) ? KIND_OF_CALL[node.parent.expression.getText()] : undefined;
      if (call !== undefined) codes.push(`${call}/${node.text}`);
      else if (isFailureCode(node.text)) codes.push(node.text);
    }
    if (ts.isTemplateHead(node) && FAILURE_KINDS.some((kind) => node.text === `${kind}/`))
      codes.push(...(REASONS_OF_TEMPLATE[node.text] ?? ['…']).map((reason) => node.text + reason));
    node.forEachChild(visit);
  };
  visit(source);
  return codes;
}

function isFailureCode(text: string): boolean {
  return FAILURE_KINDS.some((kind) => text === kind || (text.startsWith(`${kind}/`) && /^[a-z_/0-9]+$/.test(text)));
}
