/** The text of a model: paragraphs, lists, bold, code. Everything else is shown as it is written; nothing is HTML. */

export function RichText({ text }) {
  return text.split(/^(```[^\n]*\n[\s\S]*?(?:^```[ \t]*$|$(?![\s\S])))/m).map((block, i) => {
    const code = block.match(/^```[^\n]*\n([\s\S]*?)\n?(?:^```[ \t]*)?$/m);
    const key = `${i}`;
    if (block.startsWith('```') && code !== null) return <Code key={key} text={code[1]} />;
    return <Prose key={key} text={block} />;
  });
}

function Code({ text }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a block that scrolls sideways can be scrolled by keyboard
    <pre tabIndex={0}>
      <code>{text}</code>
    </pre>
  );
}

function Prose({ text }) {
  return text
    .split(/\n{2,}/)
    .filter((paragraph) => paragraph.trim() !== '')
    .map((paragraph, i) => {
      const lines = paragraph.trim().split('\n');
      const key = `${i}`;
      if (!lines.every((line) => /^\s*[-*•]\s/.test(line))) return <p key={key}>{inline(paragraph.trim())}</p>;
      const items = lines.map((line, n) => {
        const number = `${n}`;
        return <li key={number}>{inline(line.replace(/^\s*[-*•]\s+/, ''))}</li>;
      });
      return <ul key={key}>{items}</ul>;
    });
}

function inline(text) {
  return text.split(/(`[^`\n]+`|\*\*[^*\n]+\*\*)/).map((piece, i) => {
    const key = `${i}`;
    if (/^`.+`$/.test(piece)) return <code key={key}>{piece.slice(1, -1)}</code>;
    if (/^\*\*.+\*\*$/.test(piece)) return <strong key={key}>{piece.slice(2, -2)}</strong>;
    return piece;
  });
}
