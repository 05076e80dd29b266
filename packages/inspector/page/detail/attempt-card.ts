import { setChildren, h, setAttribute } from '../dom/element.ts';
import type { KeyedRow } from '../dom/keyed-list.ts';
import type { Attempt, AttemptResponse, DeliveryView } from '@call-webhooks/simulator/control-api';
import { took } from '../model/time.ts';
import { responseText, attemptTone, CHAOS, PAUSE_REASONS } from '../model/labels.ts';
import { bodyBlock, headerTable } from '../components/code.ts';
import { clockTime } from '../components/times.ts';
import { copyButton } from '../components/action-button.ts';

/** An attempt with its request and its response. */
export type AttemptView = DeliveryView['attempts'][number];

/** One attempt, which unfolds to its request and its response. */
export function attemptCard(attempt: AttemptView): KeyedRow<AttemptView> {
  const summary = h('summary', null);
  const body = h('div', { class: 'attempt-body' });
  const element = h('li', { class: 'attempt' }, h('details', null, summary, body));
  const update = (now: AttemptView) => {
    setAttribute(element, 'data-tone', attemptTone(now));
    setChildren(
      summary,
      h(
        'span',
        { class: 'attempt-name' },
        now.kind === 'replay'
          ? `Replay of attempt ${String(now.number)}`
          : `Attempt ${String(now.number)}`,
      ),
      h('span', { class: 'answer', 'data-tone': attemptTone(now) }, responseText(now)),
      now.outcome && h('span', { class: 'outcome' }, now.outcome),
      h('span', { class: 'took' }, now.tookMs === undefined ? '' : took(now.tookMs)),
      now.chaos.map((mode) =>
        h('span', { class: 'tag chaos-tag', title: CHAOS[mode][1] }, CHAOS[mode][0]),
      ),
      clockTime(now.startedAt, 'when'),
    );
    setChildren(
      body,
      h('p', { class: 'result-text' }, resultText(now)),
      requestPart(now),
      responseParts(now),
    );
  };
  update(attempt);
  return { element, update };
}

function resultText({ kind, response, result, droppedResponse }: Attempt): string {
  if (kind === 'replay')
    return 'Somebody sent the captured request again. The response changes nothing.';
  if (!response || !result) return 'The receiver is handling the request.';
  if (result.next === 'acknowledged')
    return 'Any 2xx in time acknowledges the delivery. The service ignores the response body.';
  const lost = droppedResponse ? ' The receiver did its work, but chaos dropped the response.' : '';
  if (result.next === 'retry')
    return `The service retries: ${RETRY_REASONS[result.reason]}.${lost}`;
  return `The rule was paused: ${PAUSE_REASONS[result.reason]}.${lost}`;
}

const RETRY_REASONS = {
  status: 'the status was neither 2xx nor 404',
  timeout: 'there was no response in time',
  'connection-error': 'the connection failed',
} as const;

function requestPart({ request }: Attempt): HTMLElement {
  return h(
    'section',
    { class: 'exchange', 'aria-label': 'Request' },
    h(
      'div',
      { class: 'exchange-head' },
      h('h4', null, 'Request'),
      copyButton('Curl command', () => curlCommand(request)),
    ),
    h('p', { class: 'line' }, h('strong', null, 'POST'), ' ', request.url),
    headerTable('Request headers', request.headers),
    bodyBlock('Request body', request.body),
  );
}

function responseParts({ response, droppedResponse }: Attempt): HTMLElement[] {
  const parts = response ? [responsePart('Response', response)] : [];
  return droppedResponse ? [...parts, responsePart('Dropped response', droppedResponse)] : parts;
}

function responsePart(name: string, answer: AttemptResponse): HTMLElement {
  return h(
    'section',
    { class: 'exchange', 'aria-label': name },
    h('div', { class: 'exchange-head' }, h('h4', null, name)),
    ...responseContent(answer),
  );
}

function responseContent(answer: AttemptResponse): HTMLElement[] {
  if (answer.kind === 'timeout') return [h('p', { class: 'line' }, 'No response in time.')];
  if (answer.kind === 'connection-error')
    return [h('p', { class: 'line' }, `Connection error: ${answer.code}`)];
  return [
    h('p', { class: 'line' }, h('strong', null, String(answer.status))),
    headerTable('Response headers', answer.headers),
    answer.body === ''
      ? h('p', { class: 'hint' }, 'No body.')
      : bodyBlock(answer.truncated ? 'Response body (truncated)' : 'Response body', answer.body),
  ];
}

/** The same request as a shell command. Its signature is valid for five minutes. */
function curlCommand({ url, headers, body }: Attempt['request']): string {
  const lines = [`curl -i ${quoted(url)}`];
  for (const [name, value] of Object.entries(headers))
    if (!/^content-length$/i.test(name)) lines.push(`-H ${quoted(`${name}: ${value}`)}`);
  return [...lines, `--data-binary ${quoted(body)}`].join(' \\\n  ');
}

const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;
