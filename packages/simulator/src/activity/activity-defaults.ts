import { SimulatorError } from '../simulator-error.ts';
import type { Activity, ActivityInput, MessageAction } from './message.ts';

const ACTION_NAMES: Readonly<Record<MessageAction, string>> = {
  opened: 'Opened the message',
  clicked: 'Clicked a link',
  downloaded: 'Downloaded an attachment',
  replied: 'Replied',
  'meetinginvites:confirmed': 'Confirmed the meeting',
  'poll:voted': 'Voted',
};

const DEVICE = { os: 'Linux', program: 'Firefox', isMobile: false };
const LOCATION = { city: 'Lisbon', region: 'Lisbon', country: 'Portugal' };

/**
 * What an activity carries besides its message: `device` and `location` with `opened` and
 * `downloaded`, `object` with `clicked` and `downloaded` (spec, "Activity event record").
 * @throws SimulatorError `invalid-input` for an unknown action
 */
export function activityDefaults(
  input: ActivityInput,
): Pick<Activity, 'action' | 'actionName' | 'device' | 'location' | 'object'> {
  const { action } = input;
  if (!Object.hasOwn(ACTION_NAMES, action))
    throw new SimulatorError(
      'invalid-input',
      `An activity is one of ${Object.keys(ACTION_NAMES).join(', ')}.`,
    );
  const seen = action === 'opened' || action === 'downloaded';
  const object =
    action === 'clicked'
      ? { type: 'link', title: 'Price list' }
      : { type: 'attachment', title: 'prices.pdf' };
  return {
    action,
    actionName: input.actionName ?? ACTION_NAMES[action],
    ...(seen && { device: input.device ?? DEVICE, location: input.location ?? LOCATION }),
    ...((action === 'clicked' || action === 'downloaded') && { object: input.object ?? object }),
  };
}
