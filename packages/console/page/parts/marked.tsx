/** A text in which names of code stand between backticks. */
export const Marked = ({ text }: { readonly text: string }) => (
  <>
    {text
      .split('`')
      .map((part, at) => (at % 2 === 1 ? <code key={`${String(at)} ${part}`}>{part}</code> : part))}
  </>
);
