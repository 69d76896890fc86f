// Images of an answer. A data URL is shown; an image with a remote address is a link, because the page fetches nothing
// from other servers.
import { webAddress } from "../../logic/trace/sources.ts";

const OWN = /^data:image\/(png|jpeg|jpg|gif|webp|avif);base64,/i;

export function AnswerImages({ images }: { images: readonly string[] }) {
  return (
    <div className="grid justify-items-start gap-3 py-2" data-part="drawings">
      {images.map((url, index) => (
        <AnswerImage
          key={url}
          url={url}
          name={images.length > 1 ? `Image ${index + 1} of the answer` : "Image of the answer"}
        />
      ))}
    </div>
  );
}

function AnswerImage({ url, name }: { url: string; name: string }) {
  if (OWN.test(url))
    return <img src={url} alt={name} className="max-h-[70vh] max-w-full rounded-md border border-edge" />;
  const address = webAddress(url);
  if (!address) return null;
  return (
    <a href={address} target="_blank" rel="noopener noreferrer" data-part="drawing-link">
      Open image ({new URL(address).hostname})
    </a>
  );
}
