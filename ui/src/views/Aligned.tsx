// A percentage in a column of them: what has no decimal leaves the room of one, so that digits of the same
// worth stand one below the other.

export function Aligned({ text = "" }: { readonly text: string | undefined }) {
  return text.includes(".") ? (
    text
  ) : (
    <span class={text === "0" ? "whole nil" : "whole"}>{text}</span>
  );
}
