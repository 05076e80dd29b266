import { Fragment } from 'preact';
import { When } from './cells.tsx';

/** A text in which names of code stand between backticks, and times as `<milliseconds since the epoch>`. */
export const Marked = ({ text }: { readonly text: string }) => (
  <>
    {text.split('`').map((part, at) => {
      const key = `${String(at)} ${part}`;
      return at % 2 === 1 ? (
        <code key={key}>{part}</code>
      ) : (
        <Fragment key={key}>{timed(part)}</Fragment>
      );
    })}
  </>
);

const timed = (text: string) =>
  text
    .split(/<(\d+)>/)
    .map((part, at) => (at % 2 === 1 ? <When key={at} at={Number(part)} /> : part));
