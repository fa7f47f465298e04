/** What a server answered, as a tool answers: texts and data in their order, images and files beside them. */

import type { CallToolResult } from '@modelcontextprotocol/client';
import { type ToolAnswer, type ToolContext, type ToolPart, toolError, toolParts } from '@reprise/agent';
import type { Value } from '@reprise/contracts';
import { endOfText, startOfText } from '@reprise/contracts';
import { encode, equalBytes } from '@reprise/kernel';

type Block = CallToolResult['content'][number];

/** Files that one answer shows; of more it is said how many there are. */
const FILES_MAX = 16;

/** The parts of an answer, or the failure that it tells. */
export async function answerOf(result: CallToolResult, tool: string, ctx: ToolContext): Promise<ToolAnswer<Value>> {
  const parts: ToolPart[] = [];
  let files = 0;
  for (const block of result.content) {
    if (isFile(block) && ++files > FILES_MAX) continue;
    parts.push(await partOf(block, tool, ctx));
  }
  if (files > FILES_MAX) parts.push(`[${files - FILES_MAX} more files are not shown]`);
  const { structuredContent } = result;
  if (structuredContent !== undefined && !saysIt(result.content, structuredContent))
    parts.push(dataOf(structuredContent));
  if (result.isError !== true) return toolParts(...parts);
  return toolError(
    parts.filter((part) => typeof part === 'string').join('\n') || `${tool} failed and did not say why.`,
  );
}

function isFile(block: Block): boolean {
  return block.type === 'image' || block.type === 'audio' || (block.type === 'resource' && 'blob' in block.resource);
}

async function partOf(block: Block, tool: string, ctx: ToolContext): Promise<ToolPart> {
  switch (block.type) {
    case 'text':
      return block.text;
    case 'image':
    case 'audio':
      return fileOf(`${tool}.${block.mimeType.split('/')[1] ?? 'bin'}`, block.data, block.mimeType, ctx);
    case 'resource_link':
      return `[resource ${block.name}: ${block.uri}]`;
    case 'resource': {
      const { resource } = block;
      if ('text' in resource) return `[resource ${resource.uri}]\n${resource.text}`;
      return fileOf(resource.uri, resource.blob, resource.mimeType, ctx);
    }
    default:
      return `[${String((block as { type: unknown }).type)}: content that cannot be shown]`;
  }
}

async function fileOf(
  path: string,
  base64: string,
  mediaType: string | undefined,
  ctx: ToolContext,
): Promise<ToolPart> {
  const bytes = new Uint8Array(Buffer.from(base64, 'base64'));
  const typed = mediaType === undefined ? {} : { mediaType: startOfText(mediaType, 128) };
  return { file: await ctx.put({ path: endOfText(path, 1_024), bytes, ...typed }) };
}

/** Servers are told to say data as text as well, for who reads no other. */
function saysIt(content: CallToolResult['content'], data: unknown): boolean {
  return content.some((block) => block.type === 'text' && isSame(block.text, data));
}

function isSame(text: string, data: unknown): boolean {
  try {
    return equalBytes(encode(JSON.parse(text) as Value), encode(data as Value));
  } catch {
    return false;
  }
}

/** Data that has no canonical form is told as text. */
function dataOf(data: unknown): ToolPart {
  try {
    encode(data as Value);
    return { json: data as Value };
  } catch {
    return JSON.stringify(data);
  }
}
