/** The Markdown of a text as elements. Nothing is made HTML, nothing is loaded, and a link leads to the web or to mail. */
import { chunksOf, sourceOf, treeOf } from '@reprise/example-markdown';
import { memo } from 'react';
import { inOrder } from './in-order.js';

/** Headings of an answer stand below those of the page. */
const HEADING_ABOVE = 2;
const HEADING_MAX = 6;

export function RichText({ text }) {
  return chunksOf(inOrder(text).replace(/\r\n?/g, '\n')).map(({ raw, from, fence }) => (
    <Chunk key={from} raw={raw} marks={fence?.marks} indent={fence?.indent} lang={fence?.lang} />
  ));
}

/** A part of a text that grows: only the last one changes, so only that one is rendered again. */
const Chunk = memo(({ raw, marks, indent, lang }) => {
  const chunk = marks === undefined ? { raw } : { raw, fence: { marks, indent, lang } };
  const blocks = treeOf(chunk);
  if (blocks === undefined) return <p className="source">{raw}</p>;
  return <Blocks nodes={blocks} chunk={chunk} />;
});

function Blocks({ nodes, chunk }) {
  return keyed(nodes, (node, key) => <Block key={key} node={node} chunk={chunk} />);
}

/** Nodes have no names of their own: their places are their keys. */
function keyed(nodes, render) {
  return nodes.map((node, i) => render(node, `${i}`));
}

function Block({ node, chunk, isTight }) {
  const inside = () => <Inlines nodes={node.children} chunk={chunk} />;
  switch (node.type) {
    case 'paragraph':
      return isTight ? inside() : <p>{inside()}</p>;
    case 'heading': {
      const Heading = `h${Math.min(HEADING_MAX, node.depth + HEADING_ABOVE)}`;
      return <Heading>{inside()}</Heading>;
    }
    case 'code':
      return <Code text={node.value} lang={node.lang} />;
    case 'blockquote':
      return (
        <blockquote>
          <Blocks nodes={node.children} chunk={chunk} />
        </blockquote>
      );
    case 'list':
      return <List node={node} chunk={chunk} />;
    case 'table':
      return <Table node={node} chunk={chunk} />;
    case 'thematicBreak':
      return <hr />;
    default:
      return <p className="source">{sourceOf(chunk, node)}</p>;
  }
}

function Code({ text, lang }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a block that scrolls sideways can be scrolled by keyboard
    <pre tabIndex={0} data-lang={lang ?? undefined}>
      <code>{text}</code>
    </pre>
  );
}

function List({ node, chunk }) {
  const items = keyed(node.children, (item, key) => (
    <li key={key}>
      {typeof item.checked === 'boolean' && <span>{item.checked ? '☑ ' : '☐ '}</span>}
      {keyed(item.children, (block, at) => (
        <Block key={at} node={block} chunk={chunk} isTight={!node.spread && !item.spread} />
      ))}
    </li>
  ));
  return node.ordered ? <ol start={node.start ?? 1}>{items}</ol> : <ul>{items}</ul>;
}

function Table({ node, chunk }) {
  const [head, ...rows] = node.children;
  const cells = (row, Cell) =>
    keyed(row.children, (cell, key) => (
      <Cell key={key} style={{ textAlign: node.align?.[Number(key)] ?? undefined }}>
        <Inlines nodes={cell.children} chunk={chunk} />
      </Cell>
    ));
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a table that scrolls sideways can be scrolled by keyboard
    <div className="table" tabIndex={0}>
      <table>
        <thead>
          <tr>{cells(head, 'th')}</tr>
        </thead>
        <tbody>
          {keyed(rows, (row, key) => (
            <tr key={key}>{cells(row, 'td')}</tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Inlines({ nodes, chunk }) {
  return keyed(nodes, (node, key) => <Inline key={key} node={node} chunk={chunk} />);
}

function Inline({ node, chunk }) {
  const inside = () => <Inlines nodes={node.children} chunk={chunk} />;
  switch (node.type) {
    case 'text':
      return node.value;
    case 'strong':
      return <strong>{inside()}</strong>;
    case 'emphasis':
      return <em>{inside()}</em>;
    case 'delete':
      return <del>{inside()}</del>;
    case 'inlineCode':
      return <code>{node.value}</code>;
    case 'link':
      return <Link node={node}>{inside()}</Link>;
    case 'break':
      return <br />;
    default:
      return sourceOf(chunk, node);
  }
}

/** A link says where it leads when its words are an address, but not this one. */
function Link({ node, children }) {
  const { url } = node;
  if (!/^(?:https?:\/\/|mailto:)/i.test(url)) return children;
  const words = wordsOf(node).trim();
  const isOther = /^(?:https?:|www\.)/i.test(words) && ![words, `http://${words}`].includes(url);
  return (
    <>
      <a href={url} title={url} target="_blank" rel="noopener noreferrer nofollow">
        {children}
      </a>
      {isOther && ` (${url})`}
    </>
  );
}

function wordsOf({ value = '', children = [] }) {
  return value + children.map(wordsOf).join('');
}
