import { fill, h, setAttribute } from '../dom/element.ts';
import type { KeyedRow } from '../dom/keyed-list.ts';
import type { AttemptResponse, Attempt } from '@call-webhooks/simulator/control-api';
import { took } from '../model/time.ts';
import { answerText, attemptTone, CHAOS, PAUSED } from '../model/words.ts';
import { bodyBlock, headerTable } from '../parts/code.ts';
import { clockTime } from '../parts/ticking.ts';
import { curlCommand } from './curl-command.ts';
import { copyButton } from '../parts/copy.ts';

/** One attempt, to be unfolded: the request as it went out, and the answer as it came. */
export function attemptCard(attempt: Attempt): KeyedRow<Attempt> {
  const summary = h('summary', null);
  const body = h('div', { class: 'attempt-body' });
  const element = h('li', { class: 'attempt' }, h('details', null, summary, body));
  const update = (now: Attempt) => {
    const seen = { ...now, dropped: now.droppedResponse !== undefined };
    setAttribute(element, 'data-tone', attemptTone(seen));
    fill(
      summary,
      h(
        'span',
        { class: 'attempt-name' },
        now.kind === 'replay'
          ? `Replay of attempt ${String(now.number)}`
          : `Attempt ${String(now.number)}`,
      ),
      h('span', { class: 'answer', 'data-tone': attemptTone(seen) }, answerText(seen)),
      h('span', { class: 'took' }, now.tookMs === undefined ? '' : took(now.tookMs)),
      now.chaos.map((mode) =>
        h('span', { class: 'tag chaos-tag', title: CHAOS[mode][1] }, CHAOS[mode][0]),
      ),
      clockTime(now.startedAt, 'when'),
    );
    fill(body, h('p', { class: 'result' }, verdictText(now)), requestPart(now), answerParts(now));
  };
  update(attempt);
  return { element, update };
}

function verdictText({ kind, response, result, droppedResponse }: Attempt): string {
  if (kind === 'replay')
    return 'Somebody sent the captured request again. Its answer changes nothing.';
  if (!response || !result) return 'The receiver is working on it.';
  if (result.next === 'acknowledged')
    return 'Any 2xx in time acknowledges the delivery. The body of the answer is ignored.';
  const lost = droppedResponse ? ' The receiver did its work, but chaos dropped its answer.' : '';
  if (result.next === 'retry') return `To be retried: ${RETRIED[result.reason]}.${lost}`;
  return `The rule was paused, because ${PAUSED[result.reason]}.${lost}`;
}

const RETRIED = {
  status: 'the answer was neither 2xx nor 404',
  timeout: 'there was no answer in time',
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

function answerParts({ response, droppedResponse }: Attempt): HTMLElement[] {
  const parts = response ? [answerPart('Answer', response)] : [];
  return droppedResponse
    ? [...parts, answerPart('Answer that was dropped', droppedResponse)]
    : parts;
}

function answerPart(name: string, answer: AttemptResponse): HTMLElement {
  return h(
    'section',
    { class: 'exchange', 'aria-label': name },
    h('div', { class: 'exchange-head' }, h('h4', null, name)),
    ...answerContent(answer),
  );
}

function answerContent(answer: AttemptResponse): HTMLElement[] {
  if (answer.kind === 'timeout')
    return [h('p', { class: 'line' }, 'No status line within the acknowledgement time.')];
  if (answer.kind === 'connection-error')
    return [h('p', { class: 'line' }, `Connection error: ${answer.code}`)];
  return [
    h('p', { class: 'line' }, h('strong', null, String(answer.status))),
    headerTable('Answer headers', answer.headers),
    answer.body === ''
      ? h('p', { class: 'hint' }, 'No body.')
      : bodyBlock(answer.truncated ? 'Answer body (the beginning)' : 'Answer body', answer.body),
  ];
}
