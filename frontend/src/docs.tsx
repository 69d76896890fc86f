// Starts the API reference.
import { ReferencePage } from "./components/ReferencePage.tsx";
import { start } from "./start.tsx";

start(<ReferencePage />);
