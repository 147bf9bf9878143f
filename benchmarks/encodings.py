"""How often detectors of old encodings are right: sentences in 20 languages, written here, in 20 encodings.

Run ``python -m benchmarks.encodings``; detectors that are not installed are left out. Right means that the text comes
back character by character, whatever the codec is called. The table stands in docs/reading.md.
"""

from __future__ import annotations

import codecs
import time
from collections.abc import Callable

from backend.corpus.decoding import decode
from backend.corpus.files import UnreadableFile

# For each language: its encodings, and four sentences. What is written here no detector was trained on.
SENTENCES: dict[str, tuple[tuple[str, ...], tuple[str, str, str, str]]] = {
    "German": (("cp1252",), (
        "Der Schlüssel zur Schleuse hängt neben der Tür.",
        "Im März wird der Mühlgraben gereinigt, und die Fische werden gezählt.",
        "Wer den Rechen öffnet, schließt ihn abends wieder – auch bei Föhn.",
        "Für Gäste kostet die Führung 5 €, für Schüler ist sie frei.",
    )),
    "French": (("cp1252", "mac-roman"), (
        "La clé de l’écluse est accrochée près de la porte.",
        "Le bief est curé en mars ; les anguilles sont comptées à l’été.",
        "Où qu’il pleuve, le gardien relève la hauteur d’eau à six heures.",
        "Ça coûte 5 € par élève, et rien pour les maîtres d’école.",
    )),
    "Spanish": (("cp1252",), (
        "La llave de la esclusa está colgada junto al portón.",
        "El canal se limpia en marzo; las anguilas se cuentan en otoño.",
        "¿Quién cierra la compuerta cuando baja el nivel del río?",
        "Cada niño paga 5 €, según el señor Núñez, que vive allí.",
    )),
    "Portuguese": (("cp1252",), (
        "A chave da eclusa está pendurada ao pé do portão.",
        "Em março limpa-se a levada e contam-se as enguias no outono.",
        "Não há ninguém à noite, senão o guardião e o cão.",
        "As lições são grátis; a refeição custa dois euros.",
    )),
    "Swedish": (("cp1252",), (
        "Nyckeln till slussen hänger på väggen bredvid dörren.",
        "I mars rensas kvarnrännan, och på hösten räknas ålarna.",
        "Är vattnet högt ringer vakten två gånger före åtta.",
        "Även på söndagar får besökare gå över bron.",
    )),
    "Polish": (("cp1250", "iso8859-2"), (
        "Klucz do śluzy wisi na ścianie obok drzwi.",
        "W marcu czyści się młynówkę, a jesienią liczy węgorze.",
        "Gdy poziom wody wzrośnie, stróż dzwoni dwa razy przed ósmą.",
        "Późną nocą nikt nie przechodzi przez tę kładkę, choć jest już otwarta.",
    )),
    "Czech": (("cp1250", "iso8859-2"), (
        "Klíč od stavidla visí vedle dveří.",
        "V březnu se čistí mlýnský náhon a na podzim se počítají úhoři.",
        "Když stoupne hladina, hlídač zazvoní dvakrát před osmou.",
        "Příští středu bude lávka zavřená, řekl nám převozník.",
    )),
    "Hungarian": (("cp1250",), (
        "A zsilip kulcsa az ajtó mellett lóg.",
        "Márciusban kitisztítják a malomárkot, ősszel megszámolják az angolnákat.",
        "Ha magas a víz, az őr nyolc óra előtt kétszer csenget.",
        "Jövő szerdán zárva lesz a híd, mondta a révész.",
    )),
    "Russian": (("cp1251", "koi8-r", "cp866", "iso8859-5"), (
        "Ключ от шлюза висит возле двери.",
        "В марте чистят мельничный канал, а осенью считают угрей.",
        "Если вода поднимется, сторож звонит дважды до восьми часов.",
        "В следующую среду мост будет закрыт, сказал нам перевозчик.",
    )),
    "Ukrainian": (("cp1251", "koi8-u"), (
        "Ключ від шлюзу висить біля дверей.",
        "У березні чистять млинівку, а восени рахують вугрів.",
        "Якщо вода підніметься, сторож дзвонить двічі до восьмої години.",
        "Наступної середи міст буде зачинено, сказав нам поромник.",
    )),
    "Bulgarian": (("cp1251",), (
        "Ключът за шлюза виси до вратата.",
        "През март чистят вадата, а през есента броят змиорките.",
        "Ако водата се покачи, пазачът звъни два пъти преди осем.",
        "Следващата сряда мостът ще бъде затворен, каза ни лодкарят.",
    )),
    "Greek": (("cp1253",), (
        "Το κλειδί του υδροφράκτη κρέμεται δίπλα στην πόρτα.",
        "Τον Μάρτιο καθαρίζουν το αυλάκι και το φθινόπωρο μετρούν τα χέλια.",
        "Αν ανέβει το νερό, ο φύλακας χτυπά δύο φορές πριν από τις οκτώ.",
        "Την άλλη Τετάρτη η γέφυρα θα είναι κλειστή, μας είπε ο βαρκάρης.",
    )),
    "Turkish": (("cp1254",), (
        "Savağın anahtarı kapının yanında asılı.",
        "Mart ayında değirmen arkı temizlenir, güzün yılan balıkları sayılır.",
        "Su yükselirse bekçi sekizden önce iki kez zili çalar.",
        "Gelecek çarşamba köprü kapalı olacak, dedi sandalcı bize.",
    )),
    "Hebrew": (("cp1255",), (
        "המפתח של הסכר תלוי ליד הדלת.",
        "במרץ מנקים את תעלת הטחנה, ובסתיו סופרים את הצלופחים.",
        "אם המים עולים, השומר מצלצל פעמיים לפני שמונה.",
        "ביום רביעי הבא יהיה הגשר סגור, אמר לנו השייט.",
    )),
    "Arabic": (("cp1256",), (
        "مفتاح السد معلق بجانب الباب.",
        "في الربيع تنظف قناة الطاحونة وفي الخريف تعد الأسماك.",
        "إذا ارتفع الماء يدق الحارس الجرس مرتين قبل الثامنة.",
        "يوم الأربعاء القادم سيكون الجسر مغلقا كما قال لنا الملاح.",
    )),
    "Lithuanian": (("cp1257",), (
        "Šliuzo raktas kabo šalia durų.",
        "Kovo mėnesį valomas malūno griovys, o rudenį skaičiuojami unguriai.",
        "Jei vanduo pakyla, sargas du kartus skambina prieš aštuntą.",
        "Kitą trečiadienį tiltas bus uždarytas, pasakė mums keltininkas.",
    )),
    "Thai": (("cp874",), (
        "กุญแจประตูน้ำแขวนอยู่ข้างประตู",
        "ในเดือนมีนาคมเขาทำความสะอาดคลอง และนับปลาในฤดูหนาว",
        "ถ้าน้ำขึ้นสูง ยามจะตีระฆังสองครั้งก่อนแปดโมงเช้า",
        "วันพุธหน้าสะพานจะปิด คนแจวเรือบอกเรา",
    )),
    "Japanese": (("cp932", "euc_jp"), (
        "水門の鍵は戸口の横に掛かっています。",
        "三月に水車の溝を掃除し、秋にはウナギの数をかぞえます。",
        "水かさが増したら、番人が八時前に二度ベルを鳴らします。",
        "来週の水曜日は橋が閉まると、渡し守が教えてくれました。",
    )),
    "Chinese": (("gb18030", "big5"), (
        "水門的鑰匙掛在門旁。",
        "三月清理水道，秋天再數一數鰻魚。",
        "如果水位上升，守門人會在八點以前敲兩次鐘。",
        "下星期三橋會關閉，船夫這樣告訴我們。",
    )),
    "Simplified Chinese": (("gb18030",), (
        "水闸的钥匙挂在门旁边。",
        "三月清理水渠，秋天再数一数鳗鱼。",
        "如果水位上升，看门人会在八点以前敲两次钟。",
        "下星期三桥会关闭，船夫这样告诉我们。",
    )),
    "Korean": (("cp949",), (
        "수문 열쇠는 문 옆에 걸려 있습니다.",
        "삼월에 물방아 도랑을 치우고 가을에 뱀장어를 셉니다.",
        "물이 불어나면 문지기가 여덟 시 전에 종을 두 번 칩니다.",
        "다음 주 수요일에는 다리를 닫는다고 뱃사공이 말했습니다.",
    )),
}  # fmt: skip
LENGTHS = {"one sentence": 1, "two": 2, "four": 4}
# Names, words and signs that stand in short tables: next to nothing to go by.
WORDS = {
    "cp1252": ("Größe", "José", "Müller, Jörg", "Ångström", "café", "naïve", "5 €", "Señor Núñez", "“x”", "c’est",
               "garçon", "Tür\nGrün", "Straße 5", "100 % – ok", "Ÿ", "Ærø", "Übung", "ÄRZTE", "don’t", "été", "£5",
               "20 °C", "§ 5", "© 2020", "½ l"),
    "cp1250": ("Łódź", "Žižkov", "Dvořák, Antonín", "Kovács István", "Wałęsa"),
    "cp1251": ("Иванов", "Москва", "Пётр Ильич", "Київ"),
    "koi8-r": ("Москва", "Пушкин"),
    "cp1253": ("Αθήνα",),
    "cp1254": ("İstanbul", "Şişli"),
    "cp1255": ("שלום",),
    "cp932": ("東京", "山田太郎"),
    "gb18030": ("北京", "上海市"),
    "big5": ("臺北市",),
    "cp949": ("서울",),
}  # fmt: skip

Detector = Callable[[bytes], str]


def samples() -> list[tuple[str, str, int, str]]:
    """(language, encoding, number of sentences, text)."""
    return [
        (language, encoding, n, "\n".join(sentences[:n]) + "\n")
        for language, (encodings, sentences) in SENTENCES.items()
        for encoding in encodings
        for n in LENGTHS.values()
    ]


def words() -> list[tuple[str, str]]:
    """(encoding, text): each word alone, and below a header of ASCII."""
    return [(codec, head + word + "\n") for codec, of in WORDS.items() for word in of for head in ("", "name\n")]


def _ours(data: bytes) -> str:
    try:
        return decode(data).text
    except UnreadableFile:
        return ""


def _text(data: bytes, encoding: str | None) -> str:
    try:
        return data.decode(encoding or "ascii")
    except (UnicodeDecodeError, LookupError):
        return ""


def detectors() -> dict[str, Detector]:
    """Those that are installed."""
    found: dict[str, Detector] = {"Ragduel": _ours}
    try:
        import charset_normalizer

        found["charset-normalizer"] = lambda data: str(charset_normalizer.from_bytes(data).best() or "")
    except ImportError:
        pass
    try:
        import chardet

        found["chardet"] = lambda data: _text(data, chardet.detect(data)["encoding"])
    except ImportError:
        pass
    try:
        import cchardet

        found["faust-cchardet"] = lambda data: _text(data, cchardet.detect(data)["encoding"])
    except ImportError:
        pass
    return found


def main() -> None:
    """Print the table, and what each got wrong."""
    rows = samples()
    print(f"| detector | a word | {' | '.join(LENGTHS)} | ms a file |\n| --- |{' --- |' * (len(LENGTHS) + 2)}")
    wrong: dict[str, list[str]] = {}
    for name, detect in detectors().items():
        detect("Größe".encode("cp1252"))  # loads what it needs
        right = dict.fromkeys(LENGTHS.values(), 0)
        before = time.perf_counter()
        for language, encoding, n, text in rows:
            if detect(text.encode(encoding)) == text:
                right[n] += 1
            else:
                wrong.setdefault(name, []).append(f"{language} {codecs.lookup(encoding).name} ({n})")
        took_ms = (time.perf_counter() - before) * 1000 / len(rows)
        of = len(rows) // len(LENGTHS)
        short = [detect(text.encode(codec)) == text for codec, text in words()]
        shares = [f"{sum(short)}/{len(short)}", *(f"{n}/{of}" for n in right.values())]
        print(f"| {name} | {' | '.join(shares)} | {took_ms:.1f} |")
    for name, cases in wrong.items():
        print(f"\n{name} wrong: {', '.join(cases)}")


if __name__ == "__main__":
    main()
