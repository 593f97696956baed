"""Common first names of Europe, for places where a capital letter says nothing: the beginning of a
sentence, and German.

Names that are words as well (Rose, Mark, Hope) are left out: other signs tell those.
"""

import unicodedata

_NAMES = """
aaron abdul abigail adalbert adam adela adele adelheid adrian agata agathe agnes agnieszka ahmed
ahmet aicha aidan alban albert albrecht aldo alejandra alejandro alena ales alessandro alex
alexander alexandra alfonso alfred ali alice alicia alina alison almut alois alvaro amal amalie
ambroz amelie amina amir amy ana anastasia andre andrea andreas andres andrew andrzej aneta angela
angelika anicka anita anja anke ann anna anne annegret annette anselm antje anton antonia antonin
antonio anya aoife apolena apolline archie arjun arlette armin arne arnold artur arturo ashley
astrid asuncion aurelie axel ayse baptiste bara barbara barbora barca bartholomew bartosz bastian
bastien bea beata beate beatrice beatriz begona ben benedict benedikt benjamin berenika berit
bernadette bernard bernd bernhard bert bertha bertram bianca birgit bjorn blanca blandine blanka
blazena bohdan bohumil bohus bojan borek boris bozena brandon brenda brian brigitte britta
brunhilde bruno camila camille carla carlos carmen carol carolina caroline cassandra catherine
cecile cedric celestyn celine chantal charles charlotte chester chiara chloe christa christian
christiane christina christine christoph christopher cilka claire clara claude claudia claudio
clemens colette connor conny corinna cornelia cristina ctibor ctirad cuthbert cyril dagmar dagny
dalibor damian dana daniel daniela danny dara dariusz darren david deborah denis denise derek
desmond detlef diana didier diego dieter dimitri dirk dita dolores domenico dominik dominique
donna dora doris dorota dorothea dragan drahomira dusan dylan eckhard eddie edeltraud edith eduard
eduardo edward edwin efrain egon ela eleanor elena eleonora elfriede elias elif elisa elisabeth
eliska elizabeth elke ella ellen elmar eloise elsa emerich emil emilia emily emine emma emmanuel
emmett encarnacion encarni engelbert enrique eric erich erik erika erna ernst erwin esra esteban
estelle esther etienne eugen eugenie eusebio eustache eva evelyn evzen fabian fabienne fabio
fatima fatma felicitas felix ferdinand ferdinanda fermin fermina fernando fidel filip finn fiona
florence florian francesca francesco francisco francois frantisek franz franziska freddy frederic
frederik frieda friedhelm friedrich fritz gabi gabriel gabriela gabriele gareth gary gaspard
gaston gavin gema genevieve geoffrey georg george georgina gerald gerard gerd gerda gerhard
gerlinde gertrud gilbert gilles giovanni gisela giulia giuseppe gonzalo gottfried goyo graham
greta grzegorz gudrun guenter guido guillaume gunnar gunter gunther gustav gwen gwendolyn hamish
hana hanicka hanka hanna hannah hannelore hannes hans harald harriet harry hartmut hartwig hasan
hassan hector hedvika hedwig heidi heike heiko heinrich heinrike heinz helen helena helene helga
helmut hendrik henning henri henrik henry herbert hermann hermine hilary hilde hildegard hiltrud
holger honza horst hubert hugo huguette humberto hussein hynek ian ibrahim ida ignacio igor ilona
ilse imogen ines inga inge ingeborg ingo ingolf ingrid inmaculada irena irene iris irma irmgard
isaac isabel isabella isabelle isidro ivan ivana iveta ivica ivo iwona jacek jack jacob jacqueline
jacques jadwiga jaime jaimie jakob jakub james jan jana jane janet janina janusz jarmila jaromir
jaroslav jaroslava jason jasper javier jean jeanne jeff jennifer jenny jens jeremy jeroen jessica
jessie jesus jim jindra jindrich jiri jirka jitka joachim joan joanna joao joaquin jochem jochen
joel johan johanna johannes john jolana jonas jonathan jordi jorg jorge jose josef josefa joseph
josephine joshua juan juana judith juergen julia julian juliana julie julien julieta juliette
julius juraj jurgen justin justus justyna jutta kaca kaja kamil kamila karel karim karin karina
karl karla karolina kaspar kasper katarina katarzyna kate katerina katharina kathleen kathrin
katja katrin katrina keith ken kenneth kerstin kevin khalid kim kirsten klara klaudia klaus konrad
konstantin kresten kristian kristina kristof kristyna krystyna krzysztof kuba kurt kveta
kvetoslava kvido ladislav lambert lara lars laura laurent lea leander leila lena lenka leocadia
leonard leonie leonora leopold leos leslie leszek leyla libor libuse lida lidia lidka lieselotte
liliana lilly linda linh linus lisa lojza lorenz lothar louis louise lubomir lubos luca lucas
lucia lucie lucien lucy ludek ludger ludmila ludvik luis luisa luise lukas lukasz lutz lydia
maciej madeleine maelle magda magdalena magnus mahmoud maike maite malgorzata manfred manon manuel
manuela marc marcel marcela marcin marco marcus marek margaret margarete margarita margit margot
marguerite maria mariam marian mariana marianne marie mariela marielle mario marion marisol marit
marius marketa marko markus marlene marlies marta martha martin martina matej mateo mateusz
mathias mathieu mathilde matilda matous matteo matthew matthias matylda maurice mauricio max maxim
maxime maximilian mechthild mehmet meike melanie melissa mercedes mia michael michaela michal
michel michele michelle miguel mikael mike mikolaj mila milada milan milena milos miloslav milton
mina mirek miriam mirka miroslav miroslava misa modesto mohamed mohammed mona monica monika
monique moritz muhammad murat mustafa nadia nadine nadja nancy naomi natalia natalie nathalie
nathan nela nestor niamh nicholas nick nicolas nicole niklas niko nikola nikolas nikolaus nils
nina noah noemi nora norbert norbertine norma nuria odette odile olaf oldrich ole oleg olga oliver
olivia olivier olympe omar ondra ondrej ondrejka oscar oskar oswald ota otakar ottilie otto
ottokar pablo paco pamela pankraz paolo pascal pascale patricia patricie patricio patrick patrik
paul paula paulina pauline pavel pavla pavlina pawel pedro penelope pepa peregrin peter petr petra
philip philipp philippe philomena phoebe pierre piotr priscille prokop przemyslaw quentin quique
rachel radek radim radka radomir radoslav rafael rahel rainer rajesh ralf ralph ramiro ramon
ramona raquel raul rebecca regina reinhard remedios remi renata renate rene reto reza ricardo
richard rita robert roberto robin rocio rodrigo roger roland rolf roman romana romeo ronald
rosalie rosamunde rosario rostislav roswitha roxana rozalie ruben rudolf ruediger rufus rupert
ruprecht ruth ryan ryszard sabina sabine salma salome salvador samantha samir samira samuel sandra
sandrine saoirse sara sarah sascha saskia sebastian sebastien serena sergei sergio severine
shannon sharon sheila shirley siegfried siegmund sigrid silke silvester silvia silvie simon simona
simone siobhan sixten slavka slavomir slawomir sloane sofia sofie solange solveig sonia sonja
sophia sophie soren stanislav stanislava stanislaw stefan stefania stefanie steffen steffi stela
stella stephan stephanie stephen steve steven stuart sue susan susana susanne suzanne svatopluk
svea sven svenja svetlana swantje sybille sylvain sylvia sylvie tadeas tadeusz tamara tania tanja
tankred tatiana tatjana teresa tereza terka thaddeus thea thekla theo theodor theresa therese
thibault thibaut thierry thomas thorsten tiago tibor tilda tilo tim timo timothy tina tobias tom
tomas tomasz tonda toni torben torsten tracy traudel tristan trude tunde udo ulf ulrich ulrike urs
ursel ursula ute uwe vaclav valentin valeria valerian valerie vanda vanessa vasek veit vendula
vera verca veronica veronika veronique victor victoria vigo viktor viktorie vilem vincent viola
violeta virginie vit vitek vlad vladimir vladimira vladislav vlasta vlastimil vojta vojtech volker
volkmar walter waltraud wanda wendelin wendy wenke wenzel werner wiebke wieslaw wilfried wilhelm
william wilma winfried winnie witold wladyslaw wojciech wolfgang wolfram xaver xavier yannick
yannis yasmin yolanda yusuf yves yvonne zacharias zbigniew zbynek zdena zdenek zdenka zita zoe
zofia zoltan zuzana zuzka zygmunt
"""


def _plain(word: str) -> str:
    return "".join(unicodedata.normalize("NFD", letter)[0] for letter in word).casefold()


_FIRST_NAMES = frozenset(map(_plain, _NAMES.split()))
_SHORTEST_BENT = 5
_VOWELS = "aeiouy"
_STEMS = frozenset(
    name.rstrip(_VOWELS) for name in _FIRST_NAMES if len(name.rstrip(_VOWELS)) >= _SHORTEST_BENT
)
_CASES = ("a", "e", "i", "o", "u", "y", "em", "ou", "ovi", "ove", "s")
"""Endings by which Czech, Polish and German bend a name."""


def is_first_name(word: str) -> bool:
    """Whether a word is a common first name, as it is or bent."""
    plain = _plain(word)
    if plain in _FIRST_NAMES:
        return True
    return any(plain.endswith(end) and plain[: -len(end)] in _STEMS for end in _CASES)
