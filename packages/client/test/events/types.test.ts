import { expect, test } from '@jest/globals';
import type { ActivityEvent } from '../../src/events/types.ts';

/** Compiles only while the union narrows on `action`: `npm run typecheck` covers this file. */
function summary(event: ActivityEvent): string {
  switch (event.action) {
    case 'opened':
      // @ts-expect-error only clicked and downloaded have an object
      event.object;
      return `${event.device.os} ${event.location.city}`;
    case 'clicked':
      // @ts-expect-error only opened and downloaded have a device
      event.device;
      return event.object.title;
    case 'downloaded':
      return `${event.object.title} ${event.device.program} ${event.location.country}`;
    case 'unopened':
    case 'replied':
    case 'meetinginvites:confirmed':
    case 'poll:voted':
      // @ts-expect-error it has no device
      event.device;
      return event.actionName;
    default:
      return `${event.action} ${String(event['novelty'])}`;
  }
}

test('an event is told apart by its action, and an unknown one is kept', () => {
  const event = (fields: object): ActivityEvent => fields as ActivityEvent;
  const device = { os: 'Linux', program: 'Mutt', isMobile: false };
  const location = { city: 'Bern', region: 'BE', country: 'CH' };
  expect(summary(event({ action: 'opened', device, location }))).toBe('Linux Bern');
  expect(summary(event({ action: 'clicked', object: { type: 'link', title: 'Offer' } }))).toBe(
    'Offer',
  );
  expect(
    summary(
      event({ action: 'downloaded', device, location, object: { type: 'f', title: 'a.pdf' } }),
    ),
  ).toBe('a.pdf Mutt CH');
  expect(summary(event({ action: 'replied', actionName: 'Replied' }))).toBe('Replied');
  expect(summary(event({ action: 'bounced', novelty: 1 }))).toBe('bounced 1');
});
