import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { Button, CopyButton } from './button.tsx';
import { visible } from './visible.ts';

/** Longer texts are not highlighted. */
const MOST_COLOURED = 20_000;
const TOKENS = /("(?:[^"\\]|\\.)*")(\s*:)?|\b(true|false|null)\b|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;

interface CodeProps {
  /** Names the text: `Request body`. */
  readonly label: string;
  readonly text: string;
}

/** A text in a box: formatted if it is JSON, with buttons that show it as sent and copy it. */
export function CodeBlock({ label, text }: CodeProps) {
  const [raw, setRaw] = useState(false);
  const pretty = prettyJson(text);
  const shown = visible(raw || pretty === undefined ? text : pretty);
  return (
    <div class="block">
      <div class="block-head">
        <h4>{label}</h4>
        <div class="tools">
          {pretty !== undefined && (
            <Button label="Raw" kind="ghost" small pressed={raw} onClick={() => setRaw(!raw)} />
          )}
          <CopyButton what={label} text={() => text} />
        </div>
      </div>
      <pre class="code" tabIndex={0} role="region" aria-label={label}>
        <code>
          {pretty !== undefined && shown.length <= MOST_COLOURED ? coloured(shown) : shown}
        </code>
      </pre>
    </div>
  );
}

function prettyJson(text: string): string | undefined {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return undefined;
  }
}

function coloured(text: string): ComponentChildren[] {
  const parts: ComponentChildren[] = [];
  let at = 0;
  for (const match of text.matchAll(TOKENS)) {
    const [whole, string, colon, word] = match;
    parts.push(text.slice(at, match.index));
    at = match.index + whole.length;
    const kind = string ? (colon ? 'key' : 'string') : word ? 'word' : 'number';
    parts.push(<span class={`json-${kind}`}>{string ?? whole}</span>, colon);
  }
  parts.push(text.slice(at));
  return parts;
}

interface HeadersProps {
  readonly label: string;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
}

/** One row per header. */
export const HeaderList = ({ label, headers }: HeadersProps) => (
  <dl class="headers" aria-label={label}>
    {Object.entries(headers).flatMap(([name, value]) =>
      [value ?? ''].flat().map((one, at) => (
        <div key={`${name} ${String(at)}`}>
          <dt>{name}</dt>
          <dd>{one}</dd>
        </div>
      )),
    )}
  </dl>
);
